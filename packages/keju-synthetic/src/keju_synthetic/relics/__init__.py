"""Cultural relics: known types drawn as lit solids on a museum's ground, and asked about."""
