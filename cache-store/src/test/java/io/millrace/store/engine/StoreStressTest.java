package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.ResidentReader;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads on few keys, in volumes that wrap repeatedly. */
class StoreStressTest {
    private static final int STEPS = 2500;
    private static final int THREADS = 4;
    /** The seed of a body is in its head. */
    private final AtomicInteger found = new AtomicInteger();

    @ParameterizedTest(name = "{0} bytes of RAM")
    @ValueSource(ints = {0, 30_000, 4 << 20})
    void everyObjectFoundIsWholeAndOfOnePiece(int ramBytes) throws Exception {
        try (TestStore test = new TestStore(StoreContractTest.volumes(1, 1).ramBytes(ramBytes), new FaultyFileIo())) {
            ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Random random = new Random(t);
                Thread thread = new Thread(() -> {
                    try {
                        run(test, random);
                    } catch (Throwable e) {
                        failures.add(e);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Throwable first = failures.peek();
            if (first != null) {
                throw new AssertionError(failures.size() + " failures", first);
            }
            assertTrue(found.get() > STEPS, "found " + found);
            test.sync();
        }
    }

    private void run(TestStore test, Random random) {
        try (ResidentReader<TextHead> reader = test.store.residentReader()) {
            run(test, reader, random);
        }
    }

    private void run(TestStore test, ResidentReader<TextHead> reader, Random random) {
        for (int step = 0; step < STEPS; step++) {
            String key = "k" + random.nextInt(30);
            switch (random.nextInt(8)) {
                case 0, 1 -> {
                    int seed = random.nextInt(1000);
                    test.put(key, "h" + seed, TestStore.body(seed, length(seed)));
                }
                case 2 -> test.remove(key);
                case 3 -> {
                    StoredObject<TextHead> object = test.find(key);
                    if (object != null) {
                        test.store.update(object, TextHead.of(object.head().text() + "+"));
                        object.release();
                    }
                }
                case 4, 5 -> {
                    if (!checkedInRam(test, reader, key, random.nextInt(4) == 0)) {
                        check(test, key);
                    }
                }
                default -> check(test, key);
            }
        }
    }

    private static int length(int seed) {
        return seed % 5 == 0 ? 30_000 + seed : seed * 3;
    }

    private void check(TestStore test, String key) {
        StoredObject<TextHead> object = test.find(key);
        if (object == null) {
            return;
        }
        try {
            check(key, object, TestStore.readAll(object));
        } finally {
            object.release();
        }
    }

    private void check(String key, StoredObject<TextHead> object, byte[] body) {
        int seed = Integer.parseInt(object.head().text().substring(1).replace("+", ""));
        assertEquals(key, object.key().toString());
        assertArrayEquals(TestStore.body(seed, length(seed)), body);
        found.incrementAndGet();
    }

    /**
     * Checks an object in RAM without a reference, or with a reference after it was found; returns false if there is
     * none.
     */
    private boolean checkedInRam(TestStore test, ResidentReader<TextHead> reader, String key, boolean retained) {
        StoredObject<TextHead> object;
        reader.begin();
        try {
            object = reader.get(test.key(key));
            if (object == null) {
                return false;
            }
            if (retained) {
                object.retain();
            } else {
                check(key, object, ByteBufUtil.getBytes(object.residentBody()));
            }
        } finally {
            reader.end();
        }
        if (retained) {
            try {
                check(key, object, ByteBufUtil.getBytes(object.residentBody()));
            } finally {
                object.release();
            }
        }
        return true;
    }

    @ParameterizedTest(name = "on disk: {0}")
    @ValueSource(booleans = {true, false})
    void followersReadTheWrittenPartOfAFill(boolean disk) throws Exception {
        StoreConfig.Builder config = disk
                ? StoreContractTest.volumes(4).ramBytes(100_000)
                : StoreConfig.builder().ramBytes(4 << 20).ramObjectBytesMax(1 << 20);
        ExecutorService followers = Executors.newFixedThreadPool(3);
        try (TestStore test = new TestStore(config, new FaultyFileIo())) {
            for (int round = 0; round < 20; round++) {
                byte[] body = TestStore.body(round, 200_000);
                ObjectWriter<TextHead> writer = test.store.create(test.key("k"));
                writer.head(TextHead.of("h"), round % 2 == 0 ? body.length : -1);
                List<java.util.concurrent.Future<?>> reading = new ArrayList<>();
                for (int f = 0; f < 3; f++) {
                    StoredObject<TextHead> filling = writer.object();
                    reading.add(followers.submit(() -> follow(filling, body)));
                }
                Random random = new Random(round);
                for (int from = 0; from < body.length; ) {
                    int count = Math.min(body.length - from, 1 + random.nextInt(9000));
                    TestStore.awaitWritable(writer);
                    writer.write(from, Unpooled.wrappedBuffer(body, from, count));
                    from += count;
                }
                writer.complete(body.length);
                for (java.util.concurrent.Future<?> one : reading) {
                    assertNull(one.get());
                }
                assertArrayEquals(body, test.read("k"));
                assertNotNull(test.head("k"));
            }
        } finally {
            followers.shutdown();
        }
    }

    private static Void follow(StoredObject<TextHead> filling, byte[] body) throws IOException {
        try {
            int position = 0;
            while (position < body.length) {
                if (!filling.hasRange(position, 1)) {
                    Thread.onSpinWait();
                    continue;
                }
                byte[] some = TestStore.readSome(filling, position, 7000);
                for (int i = 0; i < some.length; i++) {
                    assertEquals(body[position + i], some[i]);
                }
                position += some.length;
            }
            return null;
        } finally {
            filling.release();
        }
    }
}
