package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ObjectWriter;
import io.millrace.store.StoredObject;
import io.millrace.store.io.FaultyFileIo;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Threads that fill, read, refresh, replace and purge the same few partial objects. The head names the body's seed. */
class PartialStressTest {
    private static final int BLOCK = 8192;
    private static final int LENGTH = 9 * BLOCK + 500;
    private static final int STEPS = 400;
    private static final int THREADS = 4;

    private final AtomicInteger asked = new AtomicInteger();
    /** Reads of a range that is said to be there, of which one must succeed. */
    private static final int READ_TRIES = 5;

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger read = new AtomicInteger();
    private final AtomicInteger seeds = new AtomicInteger();

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void everyByteReadIsThatOfItsHead(long seed) throws Exception {
        try (TestStore test = new TestStore(StoreContractTest.volumes(2).ramBytes(200_000), new FaultyFileIo())) {
            ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                Random random = new Random(seed * 100 + t);
                Thread thread = new Thread(() -> {
                    try {
                        for (int step = 0; step < STEPS; step++) {
                            step(test, random);
                        }
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
            if (!failures.isEmpty()) {
                throw new AssertionError(failures.size() + " failures, seed " + seed, failures.peek());
            }
            test.sync();
            assertEquals(asked.get(), answered.get(), "answers of onRange");
            assertTrue(read.get() > STEPS, "reads " + read);
        }
    }

    private void step(TestStore test, Random random) throws IOException {
        String key = "k" + random.nextInt(3);
        StoredObject<TextHead> object = test.find(key);
        if (object == null || random.nextInt(40) == 0) {
            start(test, key, random);
        } else if (random.nextInt(40) == 0) {
            test.remove(key);
        } else if (random.nextInt(10) == 0) {
            test.store.update(object, TextHead.of(object.head().text() + "+"));
        } else {
            fill(test, object, random);
        }
        if (object != null) {
            object.release();
        }
    }

    private static byte[] body(StoredObject<TextHead> object) {
        return TestStore.body(
                Integer.parseInt(object.head().text().replace("+", "").substring(1)), LENGTH);
    }

    private void start(TestStore test, String key, Random random) {
        int seed = seeds.incrementAndGet();
        byte[] body = TestStore.body(seed, LENGTH);
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("h" + seed), LENGTH);
        if (random.nextBoolean()) {
            writer.allowPartial();
        }
        int from = random.nextInt(LENGTH);
        int to = from + random.nextInt(LENGTH - from);
        for (int at = from; at < to; at += 5000) {
            TestStore.awaitWritable(writer);
            writer.write(at, Unpooled.copiedBuffer(body, at, Math.min(5000, to - at)));
        }
        if (random.nextInt(4) == 0) {
            writer.abort();
        } else {
            writer.keep();
        }
    }

    private void fill(TestStore test, StoredObject<TextHead> object, Random random) throws IOException {
        byte[] body = body(object);
        ObjectWriter<TextHead> writer = test.store.extend(object);
        long wanted = random.nextInt(LENGTH);
        ObjectWriter.Claim claim = writer.claim(wanted, 1 + random.nextInt(2 * BLOCK));
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        int count = (int) Math.min(LENGTH - wanted, 1 + random.nextInt(BLOCK));
        if (claim != null && random.nextInt(10) > 0) {
            for (long at = claim.position(); at < claim.position() + claim.length(); at += 3000) {
                int part = (int) Math.min(3000, claim.position() + claim.length() - at);
                writer.write(at, Unpooled.copiedBuffer(body, (int) at, part));
            }
        }
        asked.incrementAndGet();
        object.onRange(wanted, count, Runnable::run, readable -> {
            answered.incrementAndGet();
            answer.complete(readable);
        });
        if (random.nextInt(8) == 0) {
            writer.abort();
        } else {
            writer.keep();
        }
        if (TestStore.await(answer)) {
            readSome(object, body, (int) wanted, count);
        }
    }

    private void readSome(StoredObject<TextHead> object, byte[] body, int from, int count) throws IOException {
        IOException failure = null;
        for (int tries = 0; tries < READ_TRIES; tries++) {
            try {
                byte[] some = TestStore.readSome(object, from, count);
                assertArrayEquals(Arrays.copyOfRange(body, from, from + some.length), some);
                read.incrementAndGet();
                return;
            } catch (IOException e) {
                // Only what was taken back or given up between answer and read may be gone; another may have filled it
                // since.
                if (!object.hasRange(from, count)) {
                    return;
                }
                failure = e;
            }
        }
        throw failure;
    }
}
