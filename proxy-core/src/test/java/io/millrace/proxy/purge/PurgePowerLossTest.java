package io.millrace.proxy.purge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.caching.CacheSettings;
import io.millrace.proxy.caching.Outdated;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.caching.StoredHeadCodec;
import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.purge.pattern.PurgedPattern;
import io.millrace.store.CacheStore;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreKey;
import io.millrace.store.StoredObject;
import io.millrace.store.engine.FaultyStores;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;

/**
 * Random purges, undos, removals and fills of a store that is killed or loses power during one of its writes, compared
 * with a list of purges. Afterwards no response is found current that an answered purge covers. After a kill, no
 * response is found outdated that no purge covers, or only purges that were undone.
 */
final class PurgePowerLossTest {
    private static final int SEEDS =
            Integer.getInteger("millrace.power.seeds", 25 * Integer.getInteger("millrace.test.effort", 1));
    private static final int STEPS = 60;
    private static final long WAIT_SECONDS = 30;
    private static final FieldName FETCH = FieldName.of("X-Fetch");
    private static final int URLS = 12;
    private static final long DAY_MILLIS = TimeUnit.DAYS.toMillis(1);

    /** A purge as requested, by the order of all events. */
    private static final class Purge {
        private final IntPredicate covers;
        private final boolean soft;
        private final int at;
        private long stamp;
        private boolean answered;
        private boolean undoRequested;
        private boolean undone;

        private Purge(IntPredicate covers, boolean soft, int at) {
            this.covers = covers;
            this.soft = soft;
            this.at = at;
        }
    }

    /** One history. */
    private static final class History {
        private final Random random;
        private final List<Purge> purges = new ArrayList<>();
        /** The event of each answered removal, by the number of the URL. */
        private final Map<Integer, Integer> removals = new HashMap<>();

        private FaultyFileIo io = new FaultyFileIo();
        private CacheStore<StoredHead> store;
        private Invalidator invalidator;
        private long nowMillis = 1_790_000_000_000L;
        private int events;

        private History(long seed) throws IOException {
            random = new Random(seed);
            open();
        }

        private void open() throws IOException {
            store = FaultyStores.open(new StoredHeadCodec(), io);
            invalidator = Invalidator.over(store.journal(), () -> nowMillis, () -> DAY_MILLIS);
        }

        private void run() throws Exception {
            for (int life = 0; life < 3; life++) {
                io.killAfterWrites(5 + random.nextInt(60), random);
                for (int step = 0; step < STEPS && !io.isDead(); step++) {
                    nowMillis += random.nextInt(3);
                    events++;
                    step();
                }
                boolean isPowerLost = random.nextBoolean();
                FaultyFileIo next = isPowerLost ? io.afterPowerLoss(random) : io.afterKill();
                abandon();
                io = next;
                open();
                if (isPowerLost) {
                    // The removal of a single URL survives a kill, and not always a power failure.
                    removals.clear();
                }
                check(isPowerLost);
            }
            abandon();
        }

        private void abandon() {
            try {
                store.close();
            } catch (IOException e) {
                // A dead process does not write.
                assertTrue(io.isDead(), e::toString);
            }
        }

        private void step() throws Exception {
            switch (random.nextInt(8)) {
                case 0, 1, 2, 3 -> fill(random.nextInt(URLS));
                case 4, 5 -> purge(random.nextInt(3) > 0);
                case 6 -> undo();
                default -> remove(random.nextInt(URLS));
            }
        }

        private static TargetUri url(int number) {
            return (TargetUri) TargetUri.parseAbsolute("http://h" + number % 3 + "/" + number % 2 + "/" + number);
        }

        private static String tag(int number) {
            return "t" + number % 4;
        }

        private StoreKey key(int number) {
            return store.key(CacheKey.of(url(number)).bytes());
        }

        private void fill(int number) {
            TargetUri url = url(number);
            FieldSection fields = FieldSection.builder()
                    .add("Cache-Control", "max-age=864000")
                    .add("Surrogate-Key", tag(number))
                    .add("X-Fetch", Integer.toString(events))
                    .build();
            StoredHead head = StoredHead.of(
                    RequestHead.of("GET", url, FieldSection.EMPTY),
                    ResponseHead.of(200, "OK", fields),
                    nowMillis,
                    nowMillis,
                    CacheSettings.DEFAULTS,
                    invalidator.stamp(),
                    url,
                    null);
            ObjectWriter<StoredHead> writer = store.create(key(number));
            writer.head(head, 4);
            writer.write(0, Unpooled.wrappedBuffer(new byte[4]));
            writer.complete(4);
        }

        private void purge(boolean soft) throws Exception {
            int some = random.nextInt(URLS);
            TargetUri url = url(some);
            switch (random.nextInt(soft ? 6 : 5)) {
                case 0 -> purge(InvalidationScope.host(url), soft, number -> number % 3 == some % 3);
                case 1 -> {
                    TargetUri prefix =
                            (TargetUri) TargetUri.parseAbsolute("http://h" + some % 3 + "/" + some % 2 + "/");
                    purge(InvalidationScope.prefix(prefix), soft, number -> number % 6 == some % 6);
                }
                case 2 -> {
                    byte[] tag = tag(some).getBytes(StandardCharsets.US_ASCII);
                    purge(InvalidationScope.tag(tag, null), soft, number -> number % 4 == some % 4);
                }
                case 3 -> {
                    byte[] tag = tag(some).getBytes(StandardCharsets.US_ASCII);
                    purge(InvalidationScope.tag(tag, url.host()), soft, number -> number % 12 == some % 12);
                }
                case 4 -> purgePattern(some, soft);
                default -> purge(InvalidationScope.url(url), true, number -> number == some);
            }
        }

        private void purge(InvalidationScope scope, boolean soft, IntPredicate covers) throws Exception {
            Purge purge = new Purge(covers, soft, events);
            purges.add(purge);
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            invalidator.invalidate(List.of(scope), soft, Runnable::run, (entries, failure) -> {
                purge.stamp = entries.get(0).stamp();
                answer.complete(failure == null);
            });
            purge.answered = answer.get(WAIT_SECONDS, TimeUnit.SECONDS);
        }

        private void purgePattern(int some, boolean soft) throws Exception {
            Purge purge = new Purge(number -> number % 4 == some % 4, soft, events);
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            boolean isAdded = invalidator.invalidate(
                    pattern("tag == \"" + tag(some) + "\"", soft), true, Runnable::run, (entries, failure) -> {
                        purge.stamp = entries.get(0).stamp();
                        answer.complete(failure == null);
                    });
            if (isAdded) {
                purges.add(purge);
                purge.answered = answer.get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }

        private static PurgedPattern pattern(String text, boolean soft) {
            try {
                return PurgedPattern.parse(text, soft);
            } catch (ExpressionException e) {
                throw new AssertionError(e);
            }
        }

        private void undo() throws Exception {
            List<Purge> candidates = purges.stream()
                    .filter(purge -> purge.soft && purge.answered && !purge.undoRequested)
                    .toList();
            if (candidates.isEmpty()) {
                return;
            }
            Purge purge = candidates.get(random.nextInt(candidates.size()));
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            if (invalidator.undo(purge.stamp, Runnable::run, failure -> answer.complete(failure == null))) {
                purge.undoRequested = true;
                purge.undone = answer.get(WAIT_SECONDS, TimeUnit.SECONDS);
            }
        }

        private void remove(int number) throws Exception {
            CompletableFuture<Boolean> answer = new CompletableFuture<>();
            store.remove(key(number), Runnable::run, (wasPresent, failure) -> answer.complete(failure == null));
            if (answer.get(WAIT_SECONDS, TimeUnit.SECONDS)) {
                removals.put(number, events);
            }
        }

        private void check(boolean isPowerLost) throws Exception {
            for (int number = 0; number < URLS; number++) {
                CompletableFuture<StoredObject<StoredHead>> answer = new CompletableFuture<>();
                store.open(key(number), Runnable::run, answer::complete);
                StoredObject<StoredHead> object = answer.get(WAIT_SECONDS, TimeUnit.SECONDS);
                if (object != null) {
                    try {
                        check(number, object, isPowerLost);
                    } finally {
                        object.release();
                    }
                }
            }
        }

        private void check(int number, StoredObject<StoredHead> object, boolean isPowerLost) {
            StoredHead head = object.head();
            int fetched = Integer.parseInt(head.fields().get(FETCH));
            Outdated found = invalidator.invalidations().of(url(number), head, object.length());
            String what = url(number) + " of event " + fetched + " at event " + events;
            assertTrue(fetched > removals.getOrDefault(number, 0), what + " was removed");
            boolean isCovered = false;
            for (Purge purge : purges) {
                if (purge.at > fetched && purge.covers.test(number)) {
                    isCovered |= !purge.undone;
                    if (purge.answered && !purge.undoRequested) {
                        assertTrue(found != null && (purge.soft || !found.isSoft()), what + " was purged: " + found);
                    }
                }
            }
            if (!isCovered && !isPowerLost) {
                // After a power failure, the end of the journal may look damaged: then everything counts as purged.
                assertEquals(null, found, what + " was not purged");
            }
        }
    }

    @Test
    void historiesWithKillsAndPowerFailuresAgreeWithTheModel() throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            try {
                new History(seed).run();
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
            }
        }
    }
}
