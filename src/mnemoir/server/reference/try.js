// Sends what a form of /docs says to this server, and shows the answer as it comes. Nothing is kept.

'use strict';

const MOST_SHOWN = 200000; // characters
const root = document.body.dataset.root;

for (const form of document.forms) {
  form.addEventListener('submit', event => {
    event.preventDefault();
    void send(form);
  });
}

async function send(form) {
  const shown = form.querySelector('pre');
  const button = form.querySelector('button');
  shown.hidden = false;
  shown.textContent = 'Waiting for the answer';
  button.disabled = true;
  try {
    await show(await fetch(...request(form)), shown);
  } catch (error) {
    shown.textContent = `There is no answer: ${error.message}. Is the server running?`;
  } finally {
    button.disabled = false;
  }
}

function request(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.querySelectorAll('input')) {
    if (field.value === '') continue;
    if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value));
    if (field.dataset.in === 'query') query.append(field.name, field.value);
    if (field.dataset.in === 'header') headers[field.name] = field.value;
  }
  const key = document.getElementById('key')?.value;
  if (key) headers.Authorization = `Bearer ${key}`;
  const body = form.querySelector('textarea')?.value;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const asked = query.size > 0 ? `?${query}` : '';
  return [root + path + asked, { method: form.dataset.method, headers, body }];
}

async function show(answer, shown) {
  const heading = `${answer.status} ${answer.headers.get('content-type') ?? ''}\n\n`;
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader.read()) {
    text += piece.value;
    shown.textContent = heading + text.slice(0, MOST_SHOWN);
    if (text.length > MOST_SHOWN) {
      await reader.cancel();
      shown.textContent += '\n\nThe rest is not shown.';
      return;
    }
  }
  shown.textContent = heading + indented(text);
}

function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
