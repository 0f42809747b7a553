-- text: subject

-- name: versions
-- How often each subject was changed; none for one that never was.
SELECT subject, number FROM versions;

-- name: change
-- Count a change; the number is that of now. Other writers of the subject wait for the row until this one ends.
INSERT INTO versions (subject, number) VALUES (:subject, 1)
ON CONFLICT (subject) DO UPDATE SET number = versions.number + 1
RETURNING number;
