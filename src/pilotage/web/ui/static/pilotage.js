/* Pilotage: everything here is an addition; pages work without it. */
(() => {
  const root = document.documentElement;
  const $ = (s, el = document) => el.querySelector(s);
  const $$ = (s, el = document) => [...el.querySelectorAll(s)];
  root.classList.add('js');
  $$('[data-copy], [data-share], [data-print]').forEach((b) => { b.hidden = false; });

  /* colours: the server renders the choice; here it is only seen at once */
  document.addEventListener('click', (e) => {
    const a = e.target.closest('[data-theme-choice]');
    if (!a || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    const choice = a.dataset.themeChoice;
    if (choice === 'system') delete root.dataset.theme; else root.dataset.theme = choice;
    $$('[data-theme-choice]').forEach((x) => { if (x === a) x.setAttribute('aria-current', 'true'); else x.removeAttribute('aria-current'); });
    a.closest('[popover]').hidePopover();
    fetch(a.href.replace(/back=[^&]*/, 'back=/robots.txt')).catch(() => {});
  });

  /* copy, share, print */
  const done = (b) => { b.classList.add('is-done'); setTimeout(() => b.classList.remove('is-done'), 1600); };
  document.addEventListener('click', async (e) => {
    const b = e.target.closest('[data-copy], [data-share], [data-print]');
    if (!b) return;
    if (b.hasAttribute('data-print')) { window.print(); return; }
    try {
      if (b.dataset.copy) await navigator.clipboard.writeText(document.getElementById(b.dataset.copy).textContent.trim());
      else if (navigator.share) await navigator.share({ title: document.title, url: location.href });
      else await navigator.clipboard.writeText(location.href);
      done(b);
    } catch { /* refused or cancelled */ }
  });

  /* mark the section in view in the list of contents */
  const toc = new Map($$('.toc a').map((a) => [a.hash.slice(1), a]));
  if (toc.size && 'IntersectionObserver' in window) {
    const io = new IntersectionObserver((seen) => seen.forEach((s) => {
      if (!s.isIntersecting) return;
      toc.forEach((a) => a.removeAttribute('aria-current'));
      toc.get(s.target.id).setAttribute('aria-current', 'location');
    }), { rootMargin: '-15% 0px -75% 0px' });
    toc.forEach((a, id) => { const el = document.getElementById(id); if (el) io.observe(el); });
  }

  /* keyboard: / to search, j and k to move, Enter to open */
  let at = -1;
  const go = (n) => {
    const list = $$('.hit');
    if (!list.length) return;
    at = Math.max(0, Math.min(list.length - 1, n));
    $$('.hit.is-current').forEach((h) => h.classList.remove('is-current'));
    list[at].classList.add('is-current');
    $('.hit__title a', list[at]).focus();
  };
  const box = $('#q');
  document.addEventListener('keydown', (e) => {
    if (e.isComposing) return;
    const typing = e.target.matches('input:not([type="checkbox"]), textarea, select');
    if (e.key === 'Escape' && e.target === box) { box.blur(); return; }
    if (e.target === box && e.key === 'Enter' && !e.shiftKey) { e.preventDefault(); submit(); return; }
    if (typing || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === '/') { e.preventDefault(); if (box) { box.focus(); box.select(); } else $('.site-tools__search').click(); }
    if (e.key === 'j') go(at + 1);
    if (e.key === 'k') go(at - 1);
  });

  /* instant results: the same address with `fragment`, and the list is swapped */
  const live = $('[data-live]');
  const form = $('#search');
  let running;
  let timer;
  const address = (pairs) => `/search?${new URLSearchParams(pairs)}`;
  const lang = new URLSearchParams(location.search).get('lang');
  const show = async (pairs) => {
    running?.abort();
    running = new AbortController();
    const asked = lang ? [...pairs, ['lang', lang]] : pairs;
    const url = address(asked);
    const short = url.length < 1800;
    const body = new URLSearchParams([...asked, ['fragment', '1']]);
    live.setAttribute('aria-busy', 'true');
    try {
      const answer = await (short
        ? fetch(`/search?${body}`, { signal: running.signal })
        : fetch('/search', { method: 'POST', body, signal: running.signal }));
      /* what is wrong with a query is a fragment too; a server that cannot answer has none */
      if (!answer.headers.get('content-type')?.startsWith('text/html')) throw new Error(answer.status);
      live.innerHTML = await answer.text();
      delete live.dataset.off;
      at = -1;
      $('#ways')?.toggleAttribute('hidden', true);
      if (short) history.replaceState(null, '', url);
      $$('form#search input[name="facet"]').forEach((x) => x.remove());
      pairs.filter(([k]) => k === 'facet').forEach(([, v]) => {
        form.insertAdjacentHTML('afterbegin', '<input type="hidden" name="facet">');
        form.firstElementChild.value = v;
      });
      live.removeAttribute('aria-busy');
    } catch (error) {
      if (error.name === 'AbortError') return;
      live.removeAttribute('aria-busy');
      live.dataset.off = document.body.dataset.off;
    }
  };
  const pairsOf = (f) => [...new FormData(f)].filter(([k, v]) => v && k !== 'lang');
  const submit = () => {
    clearTimeout(timer);
    if (!live) { form.requestSubmit(); return; }
    if (box.value.trim()) show(pairsOf(form)).then(() => go(0));
  };
  if (live && box) {
    box.addEventListener('input', () => {
      clearTimeout(timer);
      if (box.value.trim().length < 2) return;
      timer = setTimeout(() => show(pairsOf(form)), 180);
    });
    form.addEventListener('submit', (e) => { e.preventDefault(); submit(); });
    document.addEventListener('change', (e) => {
      const f = e.target.closest('#facets');
      if (!f || !live.contains(f) || f.matches(':popover-open')) return;
      const name = e.target.value;
      show(pairsOf(f)).then(() => $(`#facets input[value="${CSS.escape(name)}"]`)?.focus());
    });
  } else {
    document.addEventListener('change', (e) => {
      const f = e.target.closest('#facets');
      if (f && !f.matches(':popover-open')) f.requestSubmit();
    });
  }
})();
