package io.millrace.system;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntPredicate;

/**
 * The model of an origin, of the responses that a cache fetched from it, and of the purges of the cache. Every body
 * names its fetch, so a response shows which purges it must not have survived. Times are ticks of a logical clock. A
 * purge without an answer may be in force or not: the model expects nothing of it.
 *
 * <p>Thread-safe. {@link #audit} needs a time without other requests and purges.
 */
final class PurgeModel {
    static final List<String> HOSTS = List.of("a.example", "b.example", "c.example");
    static final List<String> SECTIONS = List.of("blog", "img", "doc");
    static final List<String> TYPES = List.of("text/css", "image/png", "text/html");
    static final List<String> ENDINGS = List.of(".css", ".png", ".html");
    static final int T_TAGS = 10;
    static final int U_TAGS = 7;
    private static final int SMALL_BYTES = 200;
    private static final int LARGE_BYTES = 150_000;
    private static final int FAULTS_SHOWN = 10;
    /** Longest wait of the origin for a purge. */
    private static final long WAIT_NANOS = 20_000_000;

    private static final long PAUSE_NANOS = 200_000;
    private static final long NEVER = Long.MAX_VALUE;

    /** Sends one GET for an object. */
    @FunctionalInterface
    interface Getter {
        RawResponse get(int number) throws IOException;
    }

    /** One response of the origin. */
    private static final class Fetch {
        private final int id;
        private final int number;
        /** Tick of the request's arrival at the origin. */
        private final long at;
        /** Tick of the last validation with 304. */
        private volatile long validatedAt;

        private Fetch(int id, int number, long at) {
            this.id = id;
            this.number = number;
            this.at = at;
        }

        private String entityTag() {
            return "\"f" + id + "\"";
        }
    }

    /** One purge. */
    static final class Purge {
        private final String what;
        private final boolean soft;
        private final BitSet covered;
        private final long beganAt;
        private volatile long doneAt = NEVER;
        /** Tick of the request for an undo or a cancellation. */
        private volatile long undoBeganAt = NEVER;
        /** Tick of the answer that a soft purge is undone. */
        private volatile long undoneAt = NEVER;

        private volatile String id = "";

        private Purge(String what, boolean soft, BitSet covered, long beganAt) {
            this.what = what;
            this.soft = soft;
            this.covered = covered;
            this.beganAt = beganAt;
        }

        String id() {
            return id;
        }

        boolean isSoft() {
            return soft;
        }

        /** Returns true if the purge was answered, and no undo or cancellation was requested. */
        boolean isInForce() {
            return doneAt != NEVER && undoBeganAt == NEVER;
        }

        @Override
        public String toString() {
            return (soft ? "soft " : "hard ") + what + " (" + id + "), tick " + beganAt + " to "
                    + (doneAt == NEVER ? "no answer" : doneAt)
                    + (undoBeganAt == NEVER ? "" : ", undo requested at " + undoBeganAt)
                    + (undoneAt == NEVER ? "" : ", undone at " + undoneAt);
        }
    }

    /** The stored response of an object, as the last audit found it. Confined to the thread of the audits. */
    private static final class Stored {
        private int fetch = -1;
        /** Number of killed workers until then. */
        private int kills;
        /** Number of requests to the origin until then. A later one may have replaced the response. */
        private int requests;
        /** True if this response has survived the end of a worker. */
        private boolean onDisk;
    }

    private final AtomicLong clock = new AtomicLong();
    private final Map<Integer, Fetch> fetches = new ConcurrentHashMap<>();
    private final AtomicInteger fetchIds = new AtomicInteger();
    private final Map<Integer, Fetch> latest = new ConcurrentHashMap<>();
    private final List<AtomicInteger> requests = new ArrayList<>();
    private final List<Purge> purges = new CopyOnWriteArrayList<>();
    private final List<Stored> stored = new ArrayList<>();
    private final Queue<String> faults = new ConcurrentLinkedQueue<>();
    private final AtomicInteger checked = new AtomicInteger();
    private final AtomicInteger validated = new AtomicInteger();
    private int kills;
    private int expectedHits;
    private int hitsAfterUndo;

    PurgeModel(int objects) {
        for (int i = 0; i < objects; i++) {
            requests.add(new AtomicInteger());
            stored.add(new Stored());
        }
    }

    int objects() {
        return stored.size();
    }

    static String host(int number) {
        return HOSTS.get(number % HOSTS.size());
    }

    static String section(int number) {
        return SECTIONS.get(number / 3 % SECTIONS.size());
    }

    static String type(int number) {
        return TYPES.get(number / 9 % TYPES.size());
    }

    static String path(int number) {
        return "/" + section(number) + "/" + number + ENDINGS.get(number / 9 % ENDINGS.size());
    }

    static String url(int number) {
        return "http://" + host(number) + path(number);
    }

    /** Returns true if the tag is one of the two tags of the object, such as {@code t3} and {@code u5}. */
    static boolean hasTag(int number, String tag) {
        return tag.equals("t" + number % T_TAGS) || tag.equals("u" + number % U_TAGS);
    }

    /** Lets the origin answer all objects. */
    void serveFrom(ScriptedOrigin origin) {
        for (int i = 0; i < objects(); i++) {
            int number = i;
            origin.on(path(number), exchange -> answer(number, exchange));
        }
    }

    /** Answers every second validation with 304. Sends every tenth body in two parts, with a purge between them. */
    private void answer(int number, OriginExchange exchange) throws IOException {
        long at = clock.incrementAndGet();
        int request = requests.get(number).incrementAndGet();
        Fetch last = latest.get(number);
        boolean isCurrent =
                last != null && last.entityTag().equals(exchange.request().field("If-None-Match"));
        if (isCurrent && request % 2 == 0) {
            last.validatedAt = at;
            validated.incrementAndGet();
            exchange.answer(304, "", "ETag: " + last.entityTag(), "Cache-Control: max-age=86400");
            return;
        }
        Fetch fetch = new Fetch(fetchIds.incrementAndGet(), number, at);
        fetches.put(fetch.id, fetch);
        latest.put(number, fetch);
        String text = "fetch " + fetch.id + ";" + "x".repeat(number % 20 == 0 ? LARGE_BYTES : SMALL_BYTES);
        exchange.head(
                200,
                "ETag: " + fetch.entityTag(),
                "Cache-Control: max-age=86400",
                "Content-Type: " + type(number),
                "Surrogate-Key: t" + number % T_TAGS + " u" + number % U_TAGS,
                "Content-Length: " + text.length());
        int half = number % 10 == 0 ? text.length() / 2 : text.length();
        exchange.write(text.substring(0, half));
        if (half < text.length()) {
            awaitNextPurge();
            exchange.write(text.substring(half));
        }
    }

    /** Waits for the begin of another purge, for a moment at most: none may be requested any more. */
    private void awaitNextPurge() {
        int before = purges.size();
        long untilNanos = System.nanoTime() + WAIT_NANOS;
        while (purges.size() == before && untilNanos - System.nanoTime() > 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Adds a purge that is about to be requested. */
    Purge begin(String what, boolean soft, IntPredicate covers) {
        BitSet covered = new BitSet();
        for (int number = 0; number < objects(); number++) {
            covered.set(number, covers.test(number));
        }
        Purge purge = new Purge(what, soft, covered, clock.incrementAndGet());
        purges.add(purge);
        return purge;
    }

    /** The purge was answered: it is durable. */
    void done(Purge purge, String id) {
        purge.id = id;
        purge.doneAt = clock.incrementAndGet();
    }

    /** The purge was refused: nothing is purged. */
    void refused(Purge purge) {
        purges.remove(purge);
    }

    /** An undo or a cancellation is about to be requested. */
    void undoBegins(Purge purge) {
        purge.undoBeganAt = clock.incrementAndGet();
    }

    /** The undo of a soft purge was answered: it is durable. */
    void undone(Purge purge) {
        purge.undoneAt = clock.incrementAndGet();
    }

    /** The undo was refused: the purge stays in force. */
    void undoRefused(Purge purge) {
        purge.undoBeganAt = NEVER;
    }

    /** The worker was killed. */
    void killed() {
        kills++;
    }

    /** Returns the purges that were answered, and of which no undo was requested. */
    List<Purge> inForce() {
        return purges.stream().filter(Purge::isInForce).toList();
    }

    /** Sends one GET and compares the response with the purges. A failed request is no fault. */
    void get(int number, Getter getter) throws IOException {
        long beganAt = clock.incrementAndGet();
        RawResponse response = getter.get(number);
        check(number, response, beganAt, clock.incrementAndGet());
    }

    private Fetch check(int number, RawResponse response, long beganAt, long endedAt) throws IOException {
        if (response.status() != 200) {
            throw new IOException("status " + response.status());
        }
        String text = response.text();
        Fetch fetch = fetches.get(Integer.parseInt(text.substring("fetch ".length(), text.indexOf(';'))));
        if (fetch == null || fetch.number != number) {
            throw new AssertionError("a response to another request than " + url(number) + ": " + response);
        }
        checked.incrementAndGet();
        for (Purge purge : purges) {
            boolean mustCount = purge.covered.get(number)
                    && purge.doneAt < beganAt
                    && purge.beganAt > fetch.at
                    && purge.undoBeganAt > endedAt;
            if (mustCount && !(purge.soft && fetch.validatedAt > purge.beganAt)) {
                faults.add("purged, but served at tick " + beganAt + " to " + endedAt + ": " + url(number)
                        + " of fetch " + fetch.id + " at tick " + fetch.at + ", validated at " + fetch.validatedAt
                        + ", despite " + purge + "; Cache-Status: " + response.joined("Cache-Status"));
            }
        }
        return fetch;
    }

    /**
     * Requests all objects one by one. Responses that no purge covers, or only purges that were undone, must still be
     * stored.
     */
    void audit(Getter getter) throws IOException {
        for (int number = 0; number < objects(); number++) {
            Stored known = stored.get(number);
            int before = requests.get(number).get();
            boolean isExpected = known.requests == before && isExpected(number, known);
            long beganAt = clock.incrementAndGet();
            RawResponse response = getter.get(number);
            Fetch fetch = check(number, response, beganAt, clock.incrementAndGet());
            boolean isHit = requests.get(number).get() == before;
            if (isExpected && !isHit) {
                faults.add("lost without need at tick " + beganAt + ": " + url(number) + " of fetch " + known.fetch
                        + ", now fetch " + fetch.id + "; Cache-Status: " + response.joined("Cache-Status")
                        + "; purges that cover it: " + coverSince(number, known.fetch));
            }
            boolean survived = isHit && fetch.id == known.fetch && (known.onDisk || kills > known.kills);
            known.fetch = fetch.id;
            known.kills = kills;
            known.requests = requests.get(number).get();
            known.onDisk = survived;
        }
    }

    private List<Purge> coverSince(int number, int fetch) {
        Fetch from = fetches.get(fetch);
        return purges.stream()
                .filter(purge -> purge.covered.get(number) && (from == null || purge.beganAt > from.at))
                .toList();
    }

    private boolean isExpected(int number, Stored known) {
        if (known.fetch < 0 || (!known.onDisk && kills > known.kills)) {
            return false;
        }
        List<Purge> covering = coverSince(number, known.fetch);
        for (Purge purge : covering) {
            if (purge.undoneAt == NEVER) {
                return false;
            }
        }
        expectedHits++;
        hitsAfterUndo += covering.isEmpty() ? 0 : 1;
        return true;
    }

    /** Returns the first faults. */
    List<String> faults() {
        return faults.stream().limit(FAULTS_SHOWN).toList();
    }

    /** Number of responses that had to be stored although purges that were undone cover them. */
    int hitsAfterUndo() {
        return hitsAfterUndo;
    }

    @Override
    public String toString() {
        long answered = purges.stream().filter(purge -> purge.doneAt != NEVER).count();
        long undone = purges.stream().filter(purge -> purge.undoneAt != NEVER).count();
        return purges.size() + " purges, " + answered + " answered, " + undone + " undone, " + kills
                + " workers killed; " + checked + " responses checked, " + validated + " validated, " + expectedHits
                + " expected to be stored, " + hitsAfterUndo + " of them after an undo; " + faults.size() + " faults";
    }
}
