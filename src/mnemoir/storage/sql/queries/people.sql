-- text: project, tenant, user

-- name: projects_of
-- The projects in which a user of a tenant has, or had, anything, by name; by the unique key of scopes.
SELECT DISTINCT project FROM scopes WHERE tenant = :tenant AND user = :user ORDER BY project;

-- name: names
-- Every user with a scope, or in a project file: tenant, project and name, in this order; by looking at all.
SELECT tenant, project, user FROM scopes WHERE tenant <> ''
UNION SELECT p.tenant, p.project, f.user FROM file_projects AS p JOIN file_index AS f ON f.project_number = p.number
ORDER BY 1, 2, 3;

-- name: drop_file_index
-- Delete what was derived of a user's memories in project files; by the unique key.
DELETE FROM file_index
 WHERE user = :user
   AND project_number IN (SELECT number FROM file_projects WHERE tenant = :tenant AND project = :project);
