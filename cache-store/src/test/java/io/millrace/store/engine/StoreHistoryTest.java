package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories against a model, with kills in the middle of a write, power failures and reboots. The model knows for
 * each key what may be found: absence always (it is a cache), else one of the versions that the last crash may have
 * left, byte for byte. With room enough, what was synced must be there after a kill.
 */
class StoreHistoryTest {
    private static final int KEYS = 40;
    private static final int STEPS = 500;

    /** A version of a key; a null head is absence. */
    private record Version(String head, long seed, int length) {
        static final Version ABSENT = new Version(null, 0, 0);
        /** Absent, but not because it was removed: what was damaged may be found again by the next rebuild. */
        static final Version LOST = new Version(null, -1, 0);

        boolean isPresent() {
            return head != null;
        }
    }

    private record Held(StoredObject<TextHead> object, Version version) {}

    private final Map<String, List<Version>> afterKill = new HashMap<>();
    private final Map<String, List<Version>> afterPowerLoss = new HashMap<>();
    private final List<Held> held = new ArrayList<>();
    private Random random;
    private boolean roomy;
    private StoreConfig.Builder config;
    private FaultyFileIo io;
    private TestStore test;
    private long versions;
    private boolean crashed;
    private boolean lostPower;
    /** The volume that is out. */
    private Path out;
    /** Whether a volume was ever out: it may start empty, and new heads may have been given to objects in RAM only. */
    private boolean wasOut;

    private int found;

    static List<Long> seeds() {
        List<Long> seeds = new ArrayList<>();
        for (long i = 0; i < Long.getLong("store.seeds", 24); i++) {
            seeds.add(Long.getLong("store.seed", 0) + i);
        }
        return seeds;
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void neverFindsAnythingThatTheModelDoesNotKnow(long seed) {
        random = new Random(seed);
        roomy = seed % 3 == 0;
        config = config();
        io = new FaultyFileIo();
        openStore();
        for (int step = 0; step < STEPS; step++) {
            step();
            if (io.isDead()) {
                crash();
            }
        }
        releaseHeld();
        test.close();
        assertTrue(found > 0, "nothing was ever found");
    }

    private StoreConfig.Builder config() {
        int[] rams = {0, 20_000, 1 << 20};
        List<VolumeConfig> volumes = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            volumes.add(new VolumeConfig(Path.of("/v" + i), roomy ? 8 << 20 : 512 * 1024 + random.nextInt(512 * 1024)));
        }
        return StoreConfig.builder()
                .ramBytes(rams[random.nextInt(rams.length)])
                .volumes(volumes)
                .segmentBytes(roomy ? 512 * 1024 : 128 * 1024)
                .blockBytes(8192)
                .ioThreads(2);
    }

    private void openStore() {
        out = null;
        test = new TestStore(config, io);
        if (crashed) {
            test.toleratingDamage();
        }
        // A snapshot in the middle of a write is true to life as long as one thread writes.
        if (test.config().volumes().size() == 1 && random.nextBoolean()) {
            io.killAfterWrites(random.nextInt(150), random);
        }
    }

    private void step() {
        String key = "key" + random.nextInt(KEYS);
        switch (random.nextInt(21)) {
            case 0, 1, 2, 3, 4 -> put(key);
            case 5, 6, 7, 8, 9, 10 -> check(key);
            case 11, 12 -> remove(key);
            case 13, 14 -> update(key);
            case 15 -> abort(key);
            case 16 -> hold(key);
            case 17 -> releaseHeld();
            case 18 -> sync();
            case 19 -> takeOutOrBringBack();
            default -> maybeRestart();
        }
    }

    private List<Version> killed(String key) {
        return afterKill.computeIfAbsent(key, k -> new ArrayList<>(List.of(Version.ABSENT)));
    }

    private List<Version> unpowered(String key) {
        return afterPowerLoss.computeIfAbsent(key, k -> new ArrayList<>(List.of(Version.ABSENT)));
    }

    private Version current(String key) {
        List<Version> known = killed(key);
        return known.get(known.size() - 1);
    }

    private void became(String key, Version version) {
        killed(key).add(version);
        unpowered(key).add(version);
    }

    private void put(String key) {
        int length = random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(3000);
        Version version = new Version("head" + versions++, versions, length);
        if (test.put(key, version.head(), TestStore.body(version.seed(), length))) {
            became(key, version);
        }
    }

    private void abort(String key) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("aborted"), -1);
        writer.write(0, Unpooled.wrappedBuffer(new byte[random.nextInt(20_000)]));
        writer.abort();
    }

    private void check(String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object != null) {
            try {
                matches(object, current(key), key);
            } finally {
                object.release();
            }
        }
    }

    private void matches(StoredObject<TextHead> object, Version version, String key) {
        found++;
        assertTrue(version.isPresent(), () -> key + " was removed, found " + object.head());
        assertEquals(version.head(), object.head().text(), key);
        if (!io.isDead()) {
            try {
                assertArrayEquals(TestStore.body(version.seed(), version.length()), TestStore.readAll(object), key);
            } catch (java.io.UncheckedIOException e) {
                // Blocks that did not reach the device: an error, but no wrong byte.
                assertTrue(lostPower || io.isDead(), () -> key + ": " + e);
            }
        }
    }

    private void remove(String key) {
        CompletableFuture<Boolean> durable = new CompletableFuture<>();
        test.store.remove(test.key(key), Runnable::run, (present, failure) -> durable.complete(failure == null));
        if (TestStore.await(durable)) {
            List<Version> known = killed(key);
            known.clear();
        }
        became(key, Version.ABSENT);
    }

    private void update(String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return;
        }
        Version before = current(key);
        if (before.isPresent()) {
            Version version = new Version("head" + versions++, before.seed(), before.length());
            test.store.update(object, TextHead.of(version.head()));
            became(key, version);
            object.release();
            sync();
        } else {
            object.release();
        }
    }

    private void hold(String key) {
        StoredObject<TextHead> object = held.size() < 5 ? test.find(key) : null;
        if (object != null) {
            held.add(new Held(object, current(key)));
        }
    }

    private void releaseHeld() {
        for (Held one : held) {
            if (!io.isDead()) {
                assertEquals(one.version().length(), one.object().length());
                try {
                    assertArrayEquals(
                            TestStore.body(one.version().seed(), one.version().length()),
                            TestStore.readAll(one.object()));
                } catch (java.io.UncheckedIOException e) {
                    assertTrue(lostPower || io.isDead(), () -> "held object: " + e);
                }
            }
            one.object().release();
        }
        held.clear();
    }

    private void sync() {
        try {
            test.store.sync();
            if (!io.isDead()) {
                settle();
            }
        } catch (java.io.IOException e) {
            assertTrue(io.isDead(), e::toString);
        }
    }

    /** All that was done is durable. */
    private void settle() {
        afterKill.replaceAll((key, known) -> current(key).equals(Version.LOST)
                ? known
                : new ArrayList<>(known.subList(known.size() - 1, known.size())));
        afterPowerLoss.putAll(afterKill);
        afterPowerLoss.replaceAll((key, known) -> new ArrayList<>(known));
    }

    /** One volume at a time is out; what it holds is not to be had until it is back, and never what changed meanwhile. */
    private void takeOutOrBringBack() {
        if (io.isDead()) {
            return;
        }
        List<VolumeConfig> volumes = test.config().volumes();
        wasOut = true;
        try {
            if (out == null) {
                releaseHeld();
                Path path = volumes.get(random.nextInt(volumes.size())).path();
                test.store.offline(path, "a test").toCompletableFuture().get(30, TimeUnit.SECONDS);
                out = path;
            } else {
                test.store.online(out).toCompletableFuture().get(30, TimeUnit.SECONDS);
                out = null;
            }
        } catch (ExecutionException e) {
            assertTrue(io.isDead(), e::toString);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    private void maybeRestart() {
        if (random.nextInt(3) > 0) {
            return;
        }
        if (random.nextBoolean()) {
            // With nothing under way: a kill at a moment of its own choosing comes from killAfterWrites.
            sync();
            io.kill();
            return;
        }
        releaseHeld();
        if (!io.isDead()) {
            FaultyFileIo before = io;
            try {
                test.close();
                settle();
                io = random.nextBoolean() ? io.afterReboot() : io.afterKill();
                openStore();
            } catch (java.io.UncheckedIOException e) {
                assertTrue(before.isDead(), e::toString);
            }
        }
    }

    private void crash() {
        releaseHeld();
        test.abandon();
        boolean power = random.nextBoolean();
        crashed = true;
        lostPower |= power;
        io = power ? io.afterPowerLoss(random) : io.afterKill();
        openStore();
        Map<String, List<Version>> possible = power ? afterPowerLoss : afterKill;
        for (String key : List.copyOf(afterKill.keySet())) {
            Version version = identify(key, possible.get(key), power);
            List<Version> now = new ArrayList<>(version.isPresent() ? List.of() : possible.get(key));
            now.add(version);
            afterKill.put(key, now);
            afterPowerLoss.put(key, new ArrayList<>(now));
        }
    }

    private Version identify(String key, List<Version> possible, boolean power) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            boolean must = roomy
                    && !power
                    && !lostPower
                    && !wasOut
                    && possible.size() == 1
                    && possible.get(0).isPresent();
            assertTrue(!must || io.isDead(), () -> key + " is lost: " + possible);
            return possible.stream().anyMatch(Version::isPresent) ? Version.LOST : Version.ABSENT;
        }
        try {
            for (Version version : possible) {
                if (object.head().text().equals(version.head())) {
                    matches(object, version, key);
                    return version;
                }
            }
            throw new AssertionError(key + ": found " + object.head() + ", possible " + possible);
        } finally {
            object.release();
        }
    }
}
