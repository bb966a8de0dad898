package io.millrace.proxy;

import java.nio.charset.StandardCharsets;
import java.util.Random;

/**
 * One step of a random history: the pause, the client's request, and the state of the origin. Positions and lengths are
 * in bytes, times in seconds.
 */
record HistoryStep(long pause, Ask ask, OriginState origin) {
    static final long ABSENT = -1;

    /** A request of a client. */
    record Ask(
            String method,
            long first,
            long last,
            long suffix,
            String ifNoneMatch,
            long ifModifiedSince,
            String ifMatch,
            String ifRange,
            boolean noCache,
            boolean onlyIfCached,
            long maxAge,
            long minFresh,
            long maxStale,
            String variant) {

        boolean hasRange() {
            return first >= 0 || suffix >= 0;
        }

        String wire(String path) {
            StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\nHost: test.example\r\n");
            if (first >= 0) {
                head.append("Range: bytes=" + first + "-" + (last < 0 ? "" : last) + "\r\n");
            } else if (suffix >= 0) {
                head.append("Range: bytes=-" + suffix + "\r\n");
            }
            add(head, "If-None-Match", ifNoneMatch);
            add(head, "If-Match", ifMatch);
            add(head, "If-Range", ifRange);
            add(head, "X-V", variant);
            if (ifModifiedSince >= 0) {
                add(head, "If-Modified-Since", HistoryOrigin.date(ifModifiedSince));
            }
            StringBuilder control = new StringBuilder();
            control.append(noCache ? ", no-cache" : "").append(onlyIfCached ? ", only-if-cached" : "");
            control.append(maxAge >= 0 ? ", max-age=" + maxAge : "")
                    .append(minFresh >= 0 ? ", min-fresh=" + minFresh : "");
            control.append(maxStale >= 0 ? ", max-stale=" + maxStale : "");
            if (control.length() > 0) {
                add(head, "Cache-Control", control.substring(2));
            }
            if (method.equals("POST")) {
                head.append("Content-Length: 0\r\n");
            }
            return head.append("\r\n").toString();
        }

        private static void add(StringBuilder head, String name, String value) {
            if (value != null) {
                head.append(name).append(": ").append(value).append("\r\n");
            }
        }
    }

    /** The state of the origin: its representation, the fields about it, and its failure. */
    record OriginState(
            int version,
            int length,
            String tag,
            boolean dated,
            long maxAge,
            long sharedMaxAge,
            long expiresIn,
            String restriction,
            boolean varies,
            long age,
            Trouble trouble) {

        /** Returns the time at which this representation was created. */
        long lastModified() {
            return ProxyExtension.START_MILLIS / 1000 - 1_000_000 + version * 1000L;
        }

        byte[] content() {
            byte[] content = ProxyExtension.content(length);
            for (int i = 0; i < length; i++) {
                content[i] = (byte) (content[i] + version * 7);
            }
            return content;
        }

        /** Returns the content as ISO 8859-1 text. */
        String text() {
            return new String(content(), StandardCharsets.ISO_8859_1);
        }
    }

    /** A failure of the origin. */
    enum Trouble {
        NONE,
        ERROR,
        NOT_FOUND,
        CLOSE
    }

    /** Creates the steps of one history. */
    static final class Maker {
        private final Random random;
        private final boolean varies;
        private OriginState origin;
        private int version;

        Maker(long seed) {
            random = new Random(seed);
            varies = random.nextInt(4) == 0;
            origin = newOrigin();
        }

        boolean chance(int percent) {
            return random.nextInt(100) < percent;
        }

        private long some(int bound) {
            return random.nextInt(bound);
        }

        private OriginState newOrigin() {
            version++;
            String tag = chance(60) ? "\"v" + version + "\"" : chance(50) ? "W/\"v" + version + "\"" : null;
            String[] restrictions = {
                null, null, null, null, "no-cache", "no-store", "private", "must-revalidate", "proxy-revalidate"
            };
            int lifetime = random.nextInt(6);
            boolean dated = lifetime == 5 || chance(60);
            return new OriginState(
                    version,
                    100 + random.nextInt(900),
                    tag,
                    dated,
                    lifetime < 3 ? some(60) : ABSENT,
                    lifetime == 3 ? some(60) : ABSENT,
                    lifetime == 4 ? some(60) : ABSENT,
                    restrictions[random.nextInt(restrictions.length)],
                    varies,
                    chance(15) ? some(40) : ABSENT,
                    Trouble.NONE);
        }

        private OriginState next() {
            if (chance(25)) {
                origin = newOrigin();
            }
            Trouble trouble = chance(80)
                    ? Trouble.NONE
                    : new Trouble[] {Trouble.ERROR, Trouble.NOT_FOUND, Trouble.CLOSE}[random.nextInt(3)];
            OriginState o = origin;
            return new OriginState(
                    o.version,
                    o.length,
                    o.tag,
                    o.dated,
                    o.maxAge,
                    o.sharedMaxAge,
                    o.expiresIn,
                    o.restriction,
                    o.varies,
                    o.age,
                    trouble);
        }

        private String tag() {
            int of = Math.max(1, version - random.nextInt(2));
            return (chance(25) ? "W/" : "") + "\"v" + of + "\"";
        }

        HistoryStep step() {
            long pause = chance(50) ? some(8) : chance(80) ? some(70) : some(200_000);
            OriginState state = next();
            String method = chance(85) ? "GET" : chance(60) ? "HEAD" : "POST";
            boolean get = method.equals("GET");
            boolean asks = !method.equals("POST");
            boolean bounded = get && chance(20);
            boolean suffix = get && !bounded && chance(12);
            long first = bounded ? some(1100) : ABSENT;
            long last = bounded && chance(75) ? first + some(400) : ABSENT;
            Ask ask = new Ask(
                    method,
                    first,
                    last,
                    suffix ? 1 + some(300) : ABSENT,
                    asks && chance(15) ? tag() : null,
                    asks && chance(7) ? state.lastModified() + some(3) - 1 : ABSENT,
                    asks && chance(5) ? tag() : null,
                    (bounded || suffix) && chance(25) ? tag() : null,
                    asks && chance(6),
                    asks && chance(4),
                    asks && chance(7) ? some(50) : ABSENT,
                    asks && chance(5) ? some(50) : ABSENT,
                    asks && chance(10) ? some(100) : ABSENT,
                    varies ? "v" + some(3) : null);
            return new HistoryStep(pause, ask, state);
        }
    }
}
