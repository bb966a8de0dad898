package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.caching.tags.Labels;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.stored.StoredUrl;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.store.CorruptHeadException;
import io.millrace.store.Journal;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random purges by pattern, fills, sweeps, undos, cancellations and restarts, compared with a list of purges: no purged
 * response is found current, and a response is found stale or gone only if a purge covers it.
 */
final class PatternModelTest {
    private static final int SEEDS = Integer.getInteger("millrace.pattern.seeds", 1000);
    private static final int STEPS = 40;
    private static final long START = 1_790_000_000_000L;
    /** The undo window in milliseconds; each step takes one second. */
    private static final long WINDOW = 8000;

    private static final List<String> PATHS = List.of("/a.css", "/a.png", "/b.png", "/b?q");
    private static final List<String> TYPES = List.of("text/css", "image/png", "text/html");

    /** An expression, and the same condition in Java. */
    private record Pattern(String text, Predicate<Stored> holds) {}

    private static final List<Pattern> PATTERNS = List.of(
            new Pattern("path =~ '\\.png$'", stored -> stored.path.endsWith(".png")),
            new Pattern("type == 'image/png'", stored -> stored.type.equals("image/png")),
            new Pattern("host == 'a.example' && !(query == 'q')", stored -> !stored.path.endsWith("?q")),
            new Pattern("tag == 'x'", stored -> stored.tag.equals("x")),
            new Pattern(
                    "header['X-A'] == '1' || path == '/a.css'",
                    stored -> stored.tag.equals("x") || stored.path.equals("/a.css")),
            new Pattern(
                    "target == '/b?q' && tag == 'y'", stored -> stored.path.equals("/b?q") && stored.tag.equals("y")),
            new Pattern("status == 404", stored -> false));

    /** A journal in memory; a restart reads it in any order. */
    private static final class Memory implements Journal {
        private List<Entry> entries = new ArrayList<>();
        private Owner owner;

        @Override
        public void attach(Owner newOwner) {
            owner = newOwner;
            newOwner.recovered(List.copyOf(entries), entries.isEmpty() ? Condition.NEW : Condition.COMPLETE);
        }

        @Override
        public void append(Entry entry, Executor replyOn, AppendCallback reply) {
            entries.add(entry);
            reply.onAppend(null);
        }
    }

    /** A stored response. */
    private static final class Stored {
        final String path;
        final String type;
        final String tag;
        final TargetUri url;
        final long fetchStamp;
        StoredHead head;
        boolean removed;

        Stored(String path, String type, String tag, long stamp, long now) {
            this.path = path;
            this.type = type;
            this.tag = tag;
            this.fetchStamp = stamp;
            url = (TargetUri) TargetUri.parseAbsolute("http://a.example" + path);
            FieldSection fields = FieldSection.builder()
                    .add("Cache-Control", "max-age=100000")
                    .add("Content-Type", type)
                    .add("xkey", tag)
                    .add("X-A", tag.equals("x") ? "1" : "2")
                    .build();
            RequestHead request = RequestHead.of("GET", url, FieldSection.EMPTY);
            head = StoredHead.of(request, ResponseHead.of(200, "OK", fields), now, now, CacheSettings.DEFAULTS)
                    .withStamp(stamp, url, null);
        }

        void readAgain() {
            ByteBuf bytes = Unpooled.buffer();
            StoredHeadCodec codec = new StoredHeadCodec();
            codec.encode(head, bytes);
            try {
                head = codec.decode(bytes);
            } catch (CorruptHeadException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** A purge of the model. */
    private static final class Purge {
        final Pattern pattern;
        final boolean soft;
        final long stamp;
        boolean ended;

        Purge(Pattern pattern, boolean soft, long stamp) {
            this.pattern = pattern;
            this.soft = soft;
            this.stamp = stamp;
        }
    }

    private static void durable(@Nullable IOException failure) {
        assertNull(failure);
    }

    /** One history. */
    private static final class History {
        final Random random;
        final Memory journal = new Memory();
        final List<Stored> objects = new ArrayList<>();
        final List<Purge> purges = new ArrayList<>();
        long now = START;
        Invalidator invalidator;
        /** The stamp at the last start. */
        long startStamp;

        History(long seed) {
            random = new Random(seed);
            invalidator = open();
            startStamp = invalidator.stamp();
        }

        Invalidator open() {
            return Invalidator.over(journal, () -> now, () -> WINDOW);
        }

        <T> T any(List<T> of) {
            return of.get(random.nextInt(of.size()));
        }

        void fill() {
            // The fetch may have begun before the latest purges.
            long stamp = invalidator.stamp();
            if (random.nextInt(4) == 0 && !purges.isEmpty()) {
                long before = any(purges).stamp - 1;
                // No fetch outlives its process.
                stamp = before >= startStamp ? before : stamp;
            }
            Stored stored = new Stored(any(PATHS), any(TYPES), any(List.of("x", "y")), stamp, now);
            Outdated outdated = invalidator.invalidations().ofFetch(stored.url, stamp, Labels.NONE);
            boolean mayBeStored = outdated == null || (outdated.isSoft() && outdated != Outdated.STALE_BY_PATTERN);
            if (mayBeStored) {
                objects.add(stored);
            }
        }

        void purge() throws ExpressionException {
            Pattern pattern = any(PATTERNS);
            boolean soft = random.nextBoolean();
            PurgedPattern parsed = PurgedPattern.parse(pattern.text(), soft);
            boolean held = random.nextInt(8) == 0;
            boolean begun =
                    invalidator.invalidate(parsed, held, Runnable::run, (entries, failure) -> assertNull(failure));
            assertTrue(begun || invalidator.patterns().size() == 64);
            if (begun) {
                purges.add(new Purge(pattern, soft, invalidator.stamp()));
                if (held) {
                    invalidator.allowSweep(invalidator.stamp());
                }
            }
        }

        /** Sweeps all objects, or only some of them, as a sweep does that is interrupted. */
        void sweep() {
            List<PurgedPattern> patterns = invalidator.sweepable();
            boolean whole = random.nextBoolean();
            for (Stored stored : objects) {
                if (!stored.removed && (whole || random.nextBoolean())) {
                    sweep(stored, patterns);
                }
            }
            if (whole) {
                patterns.forEach(invalidator::retire);
            }
        }

        void sweep(Stored stored, List<PurgedPattern> patterns) {
            StoredUrl url = StoredUrl.ofKey(CacheKey.of(stored.url).bytes());
            for (PurgedPattern pattern : patterns) {
                if (pattern.covers(url, stored.head, 5) && invalidator.isLive(pattern.stamp())) {
                    stored.removed |= !pattern.isSoft();
                    stored.head = pattern.isSoft() ? stored.head.withSoftPurge(pattern.millis()) : stored.head;
                }
            }
        }

        void undo() {
            Purge purge = any(purges);
            boolean expected = purge.soft && !purge.ended && purge.stamp >>> 20 > now - WINDOW;
            boolean undone = invalidator.undo(purge.stamp, Runnable::run, PatternModelTest::durable);
            assertEquals(expected, undone, "undo");
            purge.ended |= undone;
            if (undone) {
                checkUndone(purge);
            }
        }

        void cancel() {
            Purge purge = any(purges);
            boolean live = invalidator.isLive(purge.stamp);
            assertEquals(live, invalidator.cancel(purge.stamp, Runnable::run, PatternModelTest::durable), "cancel");
            assertTrue(!live || !purge.ended, "it was live after its end");
            purge.ended |= live;
        }

        void restart() {
            if (random.nextBoolean()) {
                journal.entries = new ArrayList<>(journal.owner.inForce());
            } else if (random.nextInt(3) == 0) {
                // Another storage path has an older copy.
                journal.entries.addAll(journal.owner.inForce());
            }
            Collections.shuffle(journal.entries, random);
            // Lookups of the process before have left their results in the heads in memory.
            objects.forEach(Stored::readAgain);
            invalidator = open();
            startStamp = invalidator.stamp();
        }

        void check() {
            for (Stored stored : objects) {
                String found = found(stored);
                boolean gone = false;
                boolean stale = false;
                boolean ended = false;
                for (Purge purge : purges) {
                    if (stored.fetchStamp < purge.stamp && purge.pattern.holds().test(stored)) {
                        gone |= !purge.soft && !purge.ended;
                        stale |= purge.soft && !purge.ended;
                        // A sweep may have removed or marked the object before the cancellation.
                        ended |= purge.ended;
                    }
                }
                if (gone) {
                    assertEquals("gone", found, stored.path);
                } else if (stale) {
                    assertTrue(!found.equals("current"), stored.path + " is current after a soft purge");
                } else if (!ended) {
                    assertEquals("current", found, stored.path);
                }
            }
        }

        /** After an undo a response that no other purge covers is as before. */
        void checkUndone(Purge undone) {
            for (Stored stored : objects) {
                boolean other = purges.stream()
                        .anyMatch(purge -> !purge.equals(undone)
                                && stored.fetchStamp < purge.stamp
                                && purge.pattern.holds().test(stored));
                if (!other) {
                    assertEquals("current", found(stored), stored.path + " after an undo");
                }
            }
        }

        String found(Stored stored) {
            if (stored.removed) {
                return "gone";
            }
            Outdated outdated = invalidator.invalidations().of(stored.url, stored.head, 5);
            if (outdated == null) {
                return stored.head.isFresh(now) && !stored.head.isPurgedSoftly() ? "current" : "stale";
            }
            return outdated.isSoft() ? "stale" : "gone";
        }

        void step() throws ExpressionException {
            now += 1000;
            int what = random.nextInt(20);
            if (what < 8 || purges.isEmpty()) {
                fill();
                if (random.nextBoolean()) {
                    purge();
                }
            } else if (what < 12) {
                purge();
            } else if (what < 15) {
                sweep();
            } else if (what < 17) {
                undo();
            } else if (what < 18) {
                cancel();
            } else {
                restart();
            }
            check();
        }
    }

    @Test
    void historiesAgreeWithTheModel() {
        for (int seed = 0; seed < SEEDS; seed++) {
            History history = new History(seed);
            try {
                for (int step = 0; step < STEPS; step++) {
                    history.step();
                }
            } catch (AssertionError | ExpressionException | RuntimeException e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
