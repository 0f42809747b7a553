"""Sign-in of people: users and their invitations, passwords, passkeys and sessions."""
