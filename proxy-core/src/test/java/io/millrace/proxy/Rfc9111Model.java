package io.millrace.proxy;

import io.millrace.proxy.HistoryStep.Ask;
import io.millrace.proxy.HistoryStep.OriginState;
import io.millrace.proxy.HistoryStep.Trouble;
import java.util.HashMap;
import java.util.Map;

/**
 * A simple model of a shared cache for one URL, by RFC 9111: the response to each request, and whether the origin
 * receives it. It uses no code of the proxy. If the RFC leaves a choice, the model makes the documented one.
 */
final class Rfc9111Model {
    private static final long ABSENT = HistoryStep.ABSENT;
    private static final long STALE_MAX = 604_800;

    /** The expected result of a request. */
    record Expected(boolean asksOrigin, int status, String content, String tag, String contentRange, long age) {
        static final int ANY_ERROR = 5;

        Expected asking() {
            return new Expected(true, status, content, tag, contentRange, age);
        }

        @Override
        public String toString() {
            return (asksOrigin ? "asks origin, " : "from cache, ") + status + " tag " + tag + " range " + contentRange
                    + " age " + age + (content == null ? "" : " content of " + content.length());
        }
    }

    /** A stored response: the whole representation, or its bytes {@code [from, to)}. */
    private record Entry(int status, OriginState state, long received, long lifetime, int from, int to) {
        boolean isPart() {
            return status == 200 && (from != 0 || to != state.length());
        }

        long age(long now) {
            return initialAge() + now - received;
        }

        /** s4.2.3; the clock of this origin is correct, and it answers at once. */
        long initialAge() {
            return status == 404 ? 0 : Math.max(0, state.age());
        }

        boolean says(String directive) {
            return status == 200 && directive.equals(state.restriction());
        }

        boolean hasSharedMaxAge() {
            return status == 200 && state.sharedMaxAge() >= 0;
        }

        /** s5.2.2.2, s5.2.2.8, s5.2.2.10. */
        boolean forbidsStale() {
            return says("must-revalidate") || says("proxy-revalidate") || hasSharedMaxAge();
        }
    }

    private final Map<String, Entry> stored = new HashMap<>();
    private boolean over;

    /** Returns true if the history ends here, because the RFC does not determine the stored response. */
    boolean isOver() {
        return over;
    }

    Expected expect(HistoryStep step, long now) {
        Ask ask = step.ask();
        OriginState origin = step.origin();
        if (ask.method().equals("POST")) {
            if (origin.trouble() == Trouble.NONE) {
                stored.clear(); // s4.4
                return new Expected(true, 204, null, null, null, ABSENT);
            }
            return trouble(origin);
        }
        boolean head = ask.method().equals("HEAD");
        Entry entry = stored.get(key(ask));
        if (entry != null && !mustValidate(entry, ask, now)) {
            if (entry.status() == 200 && !matches(ask, entry.state())) {
                return ask.onlyIfCached() ? unavailable() : forward(ask, origin);
            }
            Expected answer = answer(entry, ask, now);
            if (answer != null) {
                return answer;
            }
            entry = null;
        }
        if (ask.onlyIfCached()) {
            return unavailable(); // s5.2.1.7
        }
        if (head) {
            return forward(ask, origin);
        }
        if (entry == null || entry.isPart()) {
            return fetch(ask, origin, now);
        }
        return validate(entry, ask, origin, now);
    }

    private static String key(Ask ask) {
        return ask.variant() == null ? "" : ask.variant();
    }

    private static Expected unavailable() {
        return new Expected(false, 504, null, null, null, ABSENT);
    }

    // s4.2: fresh, or stale and accepted

    private static boolean mustValidate(Entry entry, Ask ask, long now) {
        if (entry.says("no-cache") || ask.noCache()) {
            return true;
        }
        long age = entry.age(now);
        if (ask.maxAge() >= 0 && (age > ask.maxAge() || ask.maxAge() == 0)) {
            return true;
        }
        long left = entry.lifetime() - age;
        if (left > 0) {
            return ask.minFresh() > left;
        }
        boolean taken = ask.maxStale() >= 0 && -left <= ask.maxStale() && ask.minFresh() < 0;
        return entry.forbidsStale() || !taken;
    }

    /** s4.2.4. */
    private static boolean maybeStaleOnError(Entry entry, Ask ask, long now) {
        boolean tooOld = ask.maxAge() >= 0 && ask.maxStale() < 0 && entry.age(now) > ask.maxAge();
        return !ask.noCache()
                && !tooOld
                && !entry.says("no-cache")
                && !entry.forbidsStale()
                && entry.age(now) - entry.lifetime() <= STALE_MAX;
    }

    // s3, s4.3

    private Expected validate(Entry entry, Ask ask, OriginState origin, long now) {
        if (HistoryOrigin.fails(origin)) {
            boolean stale =
                    maybeStaleOnError(entry, ask, now) && (entry.status() != 200 || matches(ask, entry.state()));
            return stale ? answer(entry, ask, now).asking() : trouble(origin);
        }
        OriginState old = entry.state();
        boolean confirmed = entry.status() == 200
                && origin.trouble() == Trouble.NONE
                && (old.tag() != null
                        ? origin.tag() != null && opaque(origin.tag()).equals(opaque(old.tag()))
                        : old.dated() && origin.dated() && origin.lastModified() <= old.lastModified());
        if (confirmed) {
            Entry fresh = new Entry(200, origin, now, lifetime(origin, now), 0, origin.length());
            stored.put(key(ask), fresh);
            Expected answer = refusedOr(ask, fresh, now);
            return new Expected(
                    true, answer.status(), answer.content(), answer.tag(), answer.contentRange(), fresh.initialAge());
        }
        return takeWhole(ask, origin, now);
    }

    private Expected fetch(Ask ask, OriginState origin, long now) {
        if (HistoryOrigin.fails(origin)) {
            return trouble(origin);
        }
        boolean asksForPart = ask.suffix() >= 0 || (ask.first() >= 0 && ask.last() >= 0);
        if (asksForPart && origin.trouble() == Trouble.NOT_FOUND) {
            // The response to a request for a part is not stored, unless it is a part or the whole.
            return trouble(origin);
        }
        boolean partWanted = origin.trouble() == Trouble.NONE
                && ask.suffix() >= 0
                && ask.suffix() < origin.length()
                && (ask.ifRange() == null || strong(ask.ifRange(), origin.tag()));
        if (!partWanted) {
            return takeWhole(ask, origin, now);
        }
        Entry part = new Entry(
                200, origin, now, lifetime(origin, now), (int) (origin.length() - ask.suffix()), origin.length());
        return take(ask, part, now);
    }

    private Expected takeWhole(Ask ask, OriginState origin, long now) {
        Entry entry = origin.trouble() == Trouble.NOT_FOUND
                ? new Entry(404, origin, now, 20, 0, 0)
                : new Entry(200, origin, now, lifetime(origin, now), 0, origin.length());
        return take(ask, entry, now);
    }

    private Expected take(Ask ask, Entry entry, long now) {
        if (isStorable(entry)) {
            stored.put(key(ask), entry);
        }
        Expected answer = refusedOr(ask, entry, now);
        long age = entry.status() == 404 ? ABSENT : entry.state().age();
        return new Expected(true, answer.status(), answer.content(), answer.tag(), answer.contentRange(), age);
    }

    /** The response also evaluates the client's preconditions, those for the origin included. */
    private static Expected refusedOr(Ask ask, Entry entry, long now) {
        if (entry.status() == 200 && !matches(ask, entry.state())) {
            return new Expected(true, 412, null, null, null, ABSENT);
        }
        return answer(entry, ask, now);
    }

    private static boolean isStorable(Entry entry) {
        if (entry.says("no-store") || entry.says("private")) {
            return false;
        }
        boolean usable = entry.lifetime() > 0 && !entry.says("no-cache");
        return usable
                || (entry.status() == 200
                        && (entry.state().tag() != null || entry.state().dated()));
    }

    /** s4.2.1, s4.2.2. */
    private static long lifetime(OriginState origin, long now) {
        if (origin.sharedMaxAge() >= 0) {
            return origin.sharedMaxAge();
        }
        if (origin.maxAge() >= 0) {
            return origin.maxAge();
        }
        if (origin.expiresIn() >= 0) {
            return origin.expiresIn();
        }
        return Math.min(86_400, Math.max(3_600, (now - origin.lastModified()) / 10));
    }

    // RFC 9110 s13, s14

    private static boolean matches(Ask ask, OriginState state) {
        return ask.ifMatch() == null || strong(ask.ifMatch(), state.tag());
    }

    private static boolean strong(String one, String other) {
        return one.equals(other) && !one.startsWith("W/");
    }

    private static String opaque(String tag) {
        return tag.startsWith("W/") ? tag.substring(2) : tag;
    }

    /** Returns the response from the stored one; null if that has too few bytes. */
    private static Expected answer(Entry entry, Ask ask, long now) {
        OriginState state = entry.state();
        long age = entry.age(now);
        if (entry.status() == 404) {
            return new Expected(false, 404, null, null, null, age);
        }
        long modified = state.dated() ? state.lastModified() : entry.received();
        boolean same = ask.ifNoneMatch() != null
                ? state.tag() != null && opaque(ask.ifNoneMatch()).equals(opaque(state.tag()))
                : ask.ifModifiedSince() >= 0 && modified <= ask.ifModifiedSince();
        if (same) {
            return new Expected(false, 304, null, state.tag(), null, age);
        }
        int length = state.length();
        boolean ranged = ask.method().equals("GET")
                && ask.hasRange()
                && (ask.ifRange() == null || strong(ask.ifRange(), state.tag()));
        if (!ranged) {
            return entry.isPart() ? null : of(200, entry, 0, length, null, age);
        }
        if (ask.first() >= length) {
            return new Expected(false, 416, null, null, "bytes */" + length, ABSENT);
        }
        int from = (int) (ask.first() >= 0 ? ask.first() : Math.max(0, length - ask.suffix()));
        int to = (int) (ask.first() >= 0 && ask.last() >= 0 ? Math.min(length, ask.last() + 1) : length);
        return from < entry.from() || to > entry.to()
                ? null
                : of(206, entry, from, to, "bytes " + from + "-" + (to - 1) + "/" + length, age);
    }

    private static Expected of(int status, Entry entry, int from, int to, String range, long age) {
        String content = entry.state().text().substring(from, to);
        return new Expected(false, status, content, entry.state().tag(), range, age);
    }

    // requests that bypass the cache

    private Expected forward(Ask ask, OriginState origin) {
        over |= ask.method().equals("HEAD");
        if (HistoryOrigin.fails(origin)) {
            return trouble(origin);
        }
        if (origin.trouble() == Trouble.NOT_FOUND) {
            return new Expected(true, 404, null, null, null, ABSENT);
        }
        // The origin does not use Date in place of a missing Last-Modified.
        Entry whole = new Entry(200, origin, Long.MAX_VALUE / 2, 0, 0, origin.length());
        Expected answer = refusedOr(ask, whole, Long.MAX_VALUE / 2);
        return new Expected(true, answer.status(), answer.content(), answer.tag(), answer.contentRange(), ABSENT - 1);
    }

    private static Expected trouble(OriginState origin) {
        int status = origin.trouble() == Trouble.ERROR
                ? 503
                : origin.trouble() == Trouble.NOT_FOUND ? 404 : Expected.ANY_ERROR;
        return new Expected(true, status, null, null, null, ABSENT);
    }
}
