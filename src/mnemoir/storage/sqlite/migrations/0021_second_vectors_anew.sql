-- expand
-- Encrypted second vectors were bound to another column than the one they stand in. They are made anew.

UPDATE entries SET second_model = '', second_vector = NULL
 WHERE second_vector IS NOT NULL AND substr(second_vector, 1, 4) = CAST(char(1) || 'E1:' AS BLOB);
