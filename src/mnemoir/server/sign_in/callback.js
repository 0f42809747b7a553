// The end of a sign-in with an identity provider: asks this server, as a page of its own, for the session.
const told = document.getElementById("told");
const back = document.getElementById("back");
const state = new URLSearchParams(location.search).get("state");
history.replaceState(null, "", location.pathname);

async function finish() {
  const answer = await fetch("../api/auth/oidc/finish", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ state }),
  });
  const said = await answer.json();
  if (!answer.ok) throw new Error(said.error);
  location.replace(said.to);
}

finish().catch((problem) => {
  told.textContent = problem.message;
  back.hidden = false;
});
