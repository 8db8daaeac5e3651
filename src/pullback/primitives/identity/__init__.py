"""Operations that hand on what they get."""
