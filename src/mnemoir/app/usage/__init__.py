"""What users and tenants have used, and the quotas on it."""
