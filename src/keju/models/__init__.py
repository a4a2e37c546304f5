"""Who answers: endpoints, OCR engines, baselines, answers made elsewhere."""
