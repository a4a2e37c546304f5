"""Oracle bones: signs, hands, pieces of bone and shell, their rubbings, and how they break."""
