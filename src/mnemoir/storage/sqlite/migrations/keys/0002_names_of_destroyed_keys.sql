-- expand
-- Keys that were destroyed lose the name of their user, as they do now when they are destroyed.

UPDATE data_keys SET user = printf('destroyed:%08x', id) WHERE wrapped IS NULL;
