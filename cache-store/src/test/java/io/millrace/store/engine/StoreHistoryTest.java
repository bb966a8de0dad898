package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.VolumeConfig.DirectWrites;
import io.millrace.store.engine.HistoryModel.Version;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random histories against a model, with kills during a write, power failures and reboots. The model has the versions
 * of each key that may be found: absence always, since this is a cache, or one of the versions that the last crash may
 * have left, byte for byte. With enough space, synced objects must be present after a kill. Volumes grow and shrink at
 * restarts. In some histories bits flip; a key may then have an older version, unless it was removed since.
 */
class StoreHistoryTest {
    private static final int KEYS = 40;
    private static final int STEPS = 500;

    private static final int BLOCK = HistoryModel.BLOCK;
    /** Position of the first segment in a volume's file. */
    private static final int SEGMENTS_AT = 64 << 10;

    private record Held(StoredObject<TextHead> object, Version version, BitSet readable) {}

    private final HistoryModel model = new HistoryModel();
    private final List<Held> held = new ArrayList<>();
    private Random random;
    private boolean roomy;
    private StoreConfig.Builder config;
    private List<VolumeConfig> volumes = new ArrayList<>();
    private FaultyFileIo io;
    private TestStore test;
    private long versions;
    private boolean crashed;
    private boolean lostPower;
    /**
     * True if the volumes use direct writes in this history. Every third start uses the page cache, as an older release
     * does.
     */
    private boolean direct;

    private int starts;
    /** True if bits flip in this history. */
    private boolean flips;
    /** True if a bit flipped: objects may be missing, and the next rebuild may find their predecessors. */
    private boolean damaged;
    /** True if a bit of an index flipped, which no check detects. */
    private boolean indexDamaged;
    /** The volume that is offline. */
    private Path out;
    /** True if a volume was ever offline: it may start empty, and new heads may be in RAM only. */
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
        flips = seed % 4 == 1;
        direct = seed / 4 % 2 == 1;
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
        assertEquals(direct, io.directWrites() > 0, () -> "direct writes: " + io.directWrites());
    }

    private void closeForGood() {
        try {
            test.close();
        } catch (java.io.UncheckedIOException e) {
            // Pending writes may trigger the kill.
            assertTrue(io.isDead(), e::toString);
        }
    }

    private StoreConfig.Builder config() {
        int[] rams = {0, 20_000, 1 << 20};
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            volumes.add(new VolumeConfig(Path.of("/v" + i), roomy ? 8 << 20 : 512 * 1024 + random.nextInt(512 * 1024)));
        }
        return StoreConfig.builder()
                .ramBytes(rams[random.nextInt(rams.length)])
                .segmentBytes(roomy ? 512 * 1024 : 128 * 1024)
                .blockBytes(BLOCK)
                // An object that must be found must have been admitted.
                .diskAdmission(roomy || random.nextBoolean() ? DiskAdmission.ALWAYS : DiskAdmission.FREQUENCY)
                // Lookups wait for the rebuild of an index, however slow the machine is.
                .openWaitNanos(TimeUnit.SECONDS.toNanos(25))
                .ioThreads(2);
    }

    private void openStore() {
        out = null;
        DirectWrites mode = direct && ++starts % 3 > 0 ? DirectWrites.ON : DirectWrites.OFF;
        config.volumes(volumes.stream().map(volume -> volume.with(mode)).toList());
        test = new TestStore(config, io);
        if (crashed || damaged) {
            test.toleratingDamage();
        }
        if (indexDamaged) {
            test.withoutCheck();
        }
        // A snapshot during a write is realistic only if one thread writes.
        if (test.config().volumes().size() == 1 && random.nextBoolean()) {
            io.killAfterWrites(random.nextInt(150), random);
        }
    }

    private void step() {
        String key = "key" + random.nextInt(KEYS);
        switch (random.nextInt(28)) {
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
            case 25 -> maybeFlipBit();
            case 26 -> maybeResize();
            default -> maybeRestart();
        }
    }

    private void put(String key) {
        int length = random.nextInt(4) == 0 ? random.nextInt(60_000) : random.nextInt(3000);
        Version version = new Version("head" + versions++, versions, length, null);
        if (test.put(key, version.head(), version.body())) {
            model.became(key, version);
        }
    }

    private void abort(String key) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("aborted"), -1);
        writer.write(0, Unpooled.wrappedBuffer(new byte[random.nextInt(20_000)]));
        writer.abort();
    }

    /**
     * Stores a new object with some blocks in any order, by one writer or two. The object is kept, completed or
     * aborted.
     */
    private void fillInRanges(String key) {
        int length = BLOCK + 1 + random.nextInt(7 * BLOCK);
        Version version = new Version("head" + versions++, versions, length, new BitSet());
        Version before = model.current(key);
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of(version.head()), length);
        boolean early = random.nextBoolean() && !test.store.contains(test.key(key));
        if (early) {
            writer.allowPartial();
            model.became(key, version.frozen());
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
            model.became(key, version);
        } else if (early) {
            model.became(key, published ? Version.ABSENT : before);
        }
    }

    /**
     * Adds blocks to the current object of the key, by one writer or two. Updates, purges and replaces the object in
     * the meantime.
     */
    private void extend(String key) {
        StoredObject<TextHead> object = test.find(key);
        Version before = model.current(key);
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
            model.became(key, version.frozen());
        }
        if (meanwhile > 1) {
            writeBlocks(version, random.nextInt(3), one, two);
        }
        if (random.nextInt(4) == 0 && test.config().volumes().size() > 1) {
            // Bytes of another object: after they were taken back and that was synced, no reader may see them.
            ObjectWriter<TextHead> bad = test.store.extend(object);
            Version wrong = new Version(version.head(), version.seed() + 1, version.length(), new BitSet());
            writeBlocks(wrong, 2, bad, null);
            bad.abort();
            sync();
        }
        one.keep();
        if (two != null) {
            two.complete(version.length());
        }
        if (meanwhile > 1) {
            model.became(key, version);
        }
        release(object);
    }

    private static void release(StoredObject<TextHead> object) {
        if (object != null) {
            object.release();
        }
    }

    /** Writes random blocks as far as the writers can claim them, and records the claimed blocks. */
    private void writeBlocks(Version version, int count, ObjectWriter<TextHead> one, ObjectWriter<TextHead> two) {
        byte[] body = version.body();
        // An empty body has no blocks.
        for (int i = 0; i < count && version.blockCount() > 0; i++) {
            ObjectWriter<TextHead> writer = two != null && random.nextBoolean() ? two : one;
            int wanted = count == version.blockCount() ? i : random.nextInt(version.blockCount());
            ObjectWriter.Claim claim = writer.claim((long) wanted * BLOCK, 1);
            if (claim == null || claim.length() > BLOCK) {
                // Another writer has claimed the block, or no volume is online and the body must stay in RAM as one
                // piece.
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
                matches(object, model.current(key), key);
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

    /** Checks that all readable bytes are correct. */
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
            // Blocks that did not reach the device cause an error, but no wrong byte.
            assertTrue(lostPower || damaged || io.isDead(), () -> what + ": " + e);
        }
    }

    private void remove(String key) {
        CompletableFuture<Boolean> recorded = new CompletableFuture<>();
        test.store.remove(test.key(key), Runnable::run, (present, failure) -> recorded.complete(failure == null));
        model.removed(key, TestStore.await(recorded));
    }

    private void update(String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return;
        }
        Version before = model.current(key);
        if (before.isPresent()) {
            Version version = before.with("head" + versions++);
            test.store.update(object, TextHead.of(version.head()));
            model.became(key, version);
            object.release();
            sync();
        } else {
            object.release();
        }
    }

    private void hold(String key) {
        StoredObject<TextHead> object = held.size() < 5 ? test.find(key) : null;
        if (object != null) {
            held.add(new Held(object, model.current(key), readable(object, model.current(key))));
        }
    }

    private void releaseHeld() {
        for (Held one : held) {
            // Blocks that were readable when the object was opened stay readable, whatever happened to the key.
            sameBytes(one.object(), one.version(), one.readable(), "held object");
            one.object().release();
        }
        held.clear();
    }

    private void sync() {
        try {
            test.store.sync();
            if (!io.isDead()) {
                model.settle();
            }
        } catch (java.io.IOException e) {
            assertTrue(io.isDead(), e::toString);
        }
    }

    /**
     * Takes one volume offline or online. The objects of the offline volume are not found until it is online again;
     * then those that changed in the meantime are not found.
     */
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
            // Nothing is in progress. Kills at random moments come from killAfterWrites.
            sync();
            io.kill();
            return;
        }
        restart();
    }

    /** Closes the store and opens it again. */
    private void restart() {
        releaseHeld();
        if (io.isDead()) {
            return;
        }
        FaultyFileIo before = io;
        try {
            test.close();
            model.settle();
            io = random.nextBoolean() ? io.afterReboot() : io.afterKill();
            if (flips && random.nextInt(8) == 0) {
                flipBitOf("index", 0);
            }
            openStore();
        } catch (java.io.UncheckedIOException e) {
            assertTrue(before.isDead(), e::toString);
            return;
        }
        if (damaged) {
            identifyAll(false);
        }
    }

    /** May change the configured sizes for the next start. */
    private void maybeResize() {
        if (random.nextInt(3) > 0) {
            return;
        }
        // Sometimes space for all objects and as much again; sometimes not enough.
        roomy &= random.nextInt(3) > 0;
        List<VolumeConfig> resized = new ArrayList<>();
        for (VolumeConfig volume : volumes) {
            long size = roomy ? (8 << 20) + random.nextInt(4 << 20) : 512 * 1024 + random.nextInt(1 << 20);
            resized.add(new VolumeConfig(volume.path(), size));
        }
        volumes = resized;
        restart();
    }

    /** Sometimes flips one bit of the segments. */
    private void maybeFlipBit() {
        if (flips && random.nextInt(4) == 0 && !io.isDead()) {
            flipBitOf("volume", SEGMENTS_AT);
        }
    }

    /** Flips a bit of a byte that is probably in use. */
    private void flipBitOf(String file, long from) {
        List<VolumeConfig> volumes = test.config().volumes();
        Path path = volumes.get(random.nextInt(volumes.size())).path().resolve(file);
        if (!io.exists(path) || io.length(path) <= from) {
            return;
        }
        long at = from;
        for (int tries = 0; tries < 100; tries++) {
            at = from + random.nextInt((int) (io.length(path) - from));
            if (io.bytes(path, at, 1)[0] != 0) {
                break;
            }
        }
        io.flipBit(path, at * 8 + random.nextInt(8));
        damaged = true;
        indexDamaged |= file.equals("index");
        roomy = false;
        test.toleratingDamage();
    }

    private void crash() {
        releaseHeld();
        test.abandon();
        boolean power = random.nextBoolean();
        crashed = true;
        lostPower |= power;
        io = power ? io.afterPowerLoss(random) : io.afterKill();
        if (flips && random.nextInt(8) == 0) {
            flipBitOf("index", 0);
        }
        openStore();
        identifyAll(power);
    }

    private void identifyAll(boolean power) {
        for (String key : model.keys()) {
            model.identified(key, identify(key, model.possible(key, power), power), power);
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
            List<Version> older = damaged ? model.older(key, power) : List.of();
            for (int i = older.size() - 1; i >= 0; i--) {
                if (object.head().text().equals(older.get(i).head())) {
                    matches(object, older.get(i), key);
                    return older.get(i);
                }
            }
            throw new AssertionError(key + ": found " + object.head() + ", possible " + possible + ", older " + older);
        } finally {
            object.release();
        }
    }
}
