"""Cultural relics: known types as lit solids on a museum's backdrop."""
