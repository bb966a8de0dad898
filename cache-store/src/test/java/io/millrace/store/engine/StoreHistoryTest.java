package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
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

    private static final int BLOCK = 8192;

    /** A version of a key; a null head is absence. {@code blocks} are those that are stored of it; null for all. */
    private record Version(String head, long seed, int length, BitSet blocks) {
        static final Version ABSENT = new Version(null, 0, 0, null);
        /** Absent, but not because it was removed: what was damaged may be found again by the next rebuild. */
        static final Version LOST = new Version(null, -1, 0, null);

        boolean isPresent() {
            return head != null;
        }

        int blockCount() {
            return (length + BLOCK - 1) / BLOCK;
        }

        int end(int block) {
            return Math.min(length, (block + 1) * BLOCK);
        }

        boolean has(int block) {
            return blocks == null || blocks.get(block);
        }

        Version with(String newHead) {
            return new Version(newHead, seed, length, blocks);
        }

        /** The same with the blocks as of now. */
        Version frozen() {
            return with((BitSet) blocks.clone());
        }

        Version with(BitSet newBlocks) {
            return new Version(head, seed, length, newBlocks);
        }

        byte[] body() {
            return TestStore.body(seed, length);
        }
    }

    private record Held(StoredObject<TextHead> object, Version version, BitSet readable) {}

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
        closeForGood();
        assertTrue(found > 0, "nothing was ever found");
    }

    private void closeForGood() {
        try {
            test.close();
        } catch (java.io.UncheckedIOException e) {
            // The process may die of what it still writes.
            assertTrue(io.isDead(), e::toString);
        }
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
                .blockBytes(BLOCK)
                // What is to be found must have been taken.
                .diskAdmission(roomy || random.nextBoolean() ? DiskAdmission.ALWAYS : DiskAdmission.FREQUENCY)
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
        switch (random.nextInt(26)) {
            case 0, 1, 2, 3, 4 -> put(key);
            case 5, 6, 7, 8, 9, 10 -> check(key);
            case 11, 12 -> remove(key);
            case 13, 14 -> update(key);
            case 15 -> abort(key);
            case 16 -> hold(key);
            case 17 -> releaseHeld();
            case 18 -> sync();
            case 19 -> takeOutOrBringBack();
            case 20, 21 -> fillInRanges(key);
            case 22, 23, 24 -> extend(key);
            default -> maybeRestart();
        }
    }

    private List<Version> killed(String key) {
        unpowered(key);
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
        Version version = new Version("head" + versions++, versions, length, null);
        if (test.put(key, version.head(), version.body())) {
            became(key, version);
        }
    }

    private void abort(String key) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("aborted"), -1);
        writer.write(0, Unpooled.wrappedBuffer(new byte[random.nextInt(20_000)]));
        writer.abort();
    }

    /** A new object of some blocks, in any order, by one writer or two; kept, completed or given up. */
    private void fillInRanges(String key) {
        int length = BLOCK + 1 + random.nextInt(7 * BLOCK);
        Version version = new Version("head" + versions++, versions, length, new BitSet());
        Version before = current(key);
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of(version.head()), length);
        boolean early = random.nextBoolean() && !test.store.contains(test.key(key));
        if (early) {
            writer.allowPartial();
            became(key, version.frozen());
        }
        StoredObject<TextHead> filling = writer.object();
        ObjectWriter<TextHead> other = random.nextBoolean() ? test.store.extend(filling) : null;
        boolean all = random.nextInt(4) == 0;
        writeBlocks(version, all ? version.blockCount() : random.nextInt(version.blockCount() + 1), writer, other);
        if (other != null) {
            other.keep();
        }
        filling.release();
        boolean published = early && test.store.contains(test.key(key));
        int end = random.nextInt(3);
        if (end == 0 && all) {
            writer.complete(length);
        } else if (end == 1) {
            writer.abort();
        } else {
            writer.keep();
        }
        if (!writer.isFailed()) {
            became(key, version);
        } else if (early) {
            became(key, published ? Version.ABSENT : before);
        }
    }

    /** Fills some blocks of what the key holds, by one writer or two; updates, purges and replaces it meanwhile. */
    private void extend(String key) {
        StoredObject<TextHead> object = test.find(key);
        Version before = current(key);
        if (object == null || !before.isPresent() || io.isDead()) {
            release(object);
            return;
        }
        matches(object, before, key);
        Version version = before.with(readable(object, before));
        ObjectWriter<TextHead> one = test.store.extend(object);
        ObjectWriter<TextHead> two = random.nextBoolean() ? test.store.extend(object) : null;
        writeBlocks(version, random.nextInt(3), one, two);
        int meanwhile = random.nextInt(6);
        if (meanwhile == 0) {
            remove(key);
        } else if (meanwhile == 1) {
            put(key);
        } else if (meanwhile == 2) {
            version = version.with("head" + versions++);
            test.store.update(object, TextHead.of(version.head()));
            became(key, version.frozen());
        }
        if (meanwhile > 1) {
            writeBlocks(version, random.nextInt(3), one, two);
        }
        if (random.nextInt(4) == 0 && test.config().volumes().size() > 1) {
            // Bytes of something else: once they are taken back nobody may see them. (No kill comes in between.)
            ObjectWriter<TextHead> bad = test.store.extend(object);
            Version wrong = new Version(version.head(), version.seed() + 1, version.length(), new BitSet());
            writeBlocks(wrong, 2, bad, null);
            bad.abort();
        }
        one.keep();
        if (two != null) {
            two.complete(version.length());
        }
        if (meanwhile > 1) {
            became(key, version);
        }
        release(object);
    }

    private static void release(StoredObject<TextHead> object) {
        if (object != null) {
            object.release();
        }
    }

    /** Writes blocks that it picks, as far as the writers can claim them, and notes those that were taken. */
    private void writeBlocks(Version version, int count, ObjectWriter<TextHead> one, ObjectWriter<TextHead> two) {
        byte[] body = version.body();
        // An empty body has no blocks to pick from.
        for (int i = 0; i < count && version.blockCount() > 0; i++) {
            ObjectWriter<TextHead> writer = two != null && random.nextBoolean() ? two : one;
            int wanted = count == version.blockCount() ? i : random.nextInt(version.blockCount());
            ObjectWriter.Claim claim = writer.claim((long) wanted * BLOCK, 1);
            if (claim == null || claim.length() > BLOCK) {
                // Another has it, or no volume is there and the body is to stay in RAM, in one piece.
                continue;
            }
            assertEquals((long) wanted * BLOCK, claim.position());
            assertEquals(version.end(wanted), claim.position() + claim.length());
            int from = wanted * BLOCK;
            int middle = from + random.nextInt((int) claim.length());
            TestStore.awaitWritable(writer);
            writer.write(middle, Unpooled.copiedBuffer(body, middle, version.end(wanted) - middle));
            writer.write(from, Unpooled.copiedBuffer(body, from, middle - from));
            if (!writer.isFailed()) {
                version.blocks().set(wanted);
            }
        }
    }

    private static BitSet readable(StoredObject<TextHead> object, Version version) {
        BitSet readable = new BitSet();
        for (int block = 0; block < version.blockCount(); block++) {
            int from = block * BLOCK;
            readable.set(block, object.hasRange(from, version.end(block) - from));
        }
        return readable;
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
        sameBytes(object, version, readable(object, version), key);
        for (int block = 0; block < version.blockCount() && roomy && !lostPower && !object.isComplete(); block++) {
            String what = key + ": block " + block + " of " + version + " is lost";
            int from = block * BLOCK;
            boolean there = object.hasRange(from, version.end(block) - from);
            assertTrue(there || !version.has(block) || io.isDead(), what);
        }
    }

    /** What can be read is right. */
    private void sameBytes(StoredObject<TextHead> object, Version version, BitSet blocks, String what) {
        if (io.isDead()) {
            return;
        }
        assertEquals(version.length(), object.length(), what);
        try {
            if (object.isComplete()) {
                assertArrayEquals(version.body(), TestStore.readAll(object), what);
                return;
            }
            byte[] body = version.body();
            for (int block = blocks.nextSetBit(0); block >= 0; block = blocks.nextSetBit(block + 1)) {
                for (int at = block * BLOCK; at < version.end(block); ) {
                    byte[] some = TestStore.readSome(object, at, version.end(block) - at);
                    assertArrayEquals(Arrays.copyOfRange(body, at, at + some.length), some, what);
                    at += some.length;
                }
            }
        } catch (java.io.IOException | java.io.UncheckedIOException e) {
            // Blocks that did not reach the device: an error, but no wrong byte.
            assertTrue(lostPower || io.isDead(), () -> what + ": " + e);
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
            Version version = before.with("head" + versions++);
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
            held.add(new Held(object, current(key), readable(object, current(key))));
        }
    }

    private void releaseHeld() {
        for (Held one : held) {
            // What was readable when it was taken still is, whatever has become of its key.
            sameBytes(one.object(), one.version(), one.readable(), "held object");
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
        for (String key : List.copyOf(afterKill.keySet())) {
            List<Version> possible = power ? unpowered(key) : killed(key);
            Version version = identify(key, possible, power);
            List<Version> now = new ArrayList<>(version.isPresent() ? List.of() : possible);
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
