package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.DiskAdmission;
import io.millrace.store.ObjectWriter;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.VolumeConfig;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a lease that passes to another process while the first process still reads. */
class HandOverTest {
    private static final int SEGMENT_BYTES = 4 << 20;
    private static final int SEGMENTS = 104;
    private static final int LARGE_BYTES = 100 << 20;
    private static final int SMALL_OBJECTS = 500;
    private static final int STEPS = 10;

    @TempDir
    Path directory;

    private static StoreConfig.Builder config(Path path) {
        return StoreConfig.builder()
                .diskAdmission(DiskAdmission.ALWAYS)
                .volumes(List.of(new VolumeConfig(path, (long) SEGMENTS * SEGMENT_BYTES)))
                .segmentBytes(SEGMENT_BYTES)
                .ramBytes(0);
    }

    @Test
    void aSlowReaderOf100MiBGetsExactBytesWhileTheSuccessorWrapsTheRingTwice() throws Exception {
        Path path = directory.resolve("volume");
        TestStore old = new TestStore(config(path), new SystemFileIo()).withoutCheck();
        try (old) {
            for (int i = 0; i < SMALL_OBJECTS; i++) {
                assertTrue(old.put("small" + i, "h" + i, TestStore.body(i, 2000)));
            }
            putLarge(old, "large", LARGE_BYTES, 1);
            StoredObject<TextHead> reading = old.find("large");
            assertNotNull(reading);
            long position = check(reading, 0, LARGE_BYTES / 50);
            old.store.suspendWrites();
            Process successor = start(path);
            try (BufferedReader said =
                    new BufferedReader(new InputStreamReader(successor.getInputStream(), StandardCharsets.UTF_8))) {
                assertEquals("open found=" + SMALL_OBJECTS, said.readLine());
                for (int step = 1; step <= STEPS; step++) {
                    assertEquals("wrote " + step, said.readLine());
                    position = check(reading, position, (long) LARGE_BYTES * step / (STEPS + 2));
                }
                String last = said.readLine();
                assertTrue(last.startsWith("reclaimed=") && Integer.parseInt(last.substring(10)) >= 2 * SEGMENTS, last);
                check(reading, position, LARGE_BYTES);
                assertTrue(readerLists(path) > 0);
                reading.release();
                old.store.close();
                assertEquals(0, readerLists(path));
                successor.getOutputStream().close();
                assertTrue(successor.waitFor(60, TimeUnit.SECONDS));
                assertEquals(0, successor.exitValue());
            } finally {
                successor.destroyForcibly();
            }
        }
    }

    private static long readerLists(Path path) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter(file -> file.getFileName().toString().startsWith("readers."))
                    .count();
        }
    }

    private static Process start(Path path) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Successor.class.getName(),
                        path.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** The process that takes over the volume and writes twice the capacity of the volume. */
    static final class Successor {
        private Successor() {}

        public static void main(String[] args) throws IOException {
            TestStore store = new TestStore(config(Path.of(args[0])), new SystemFileIo());
            try (store) {
                int found = 0;
                for (int i = 0; i < SMALL_OBJECTS; i++) {
                    found += ("h" + i).equals(store.head("small" + i)) ? 1 : 0;
                }
                System.out.println("open found=" + found);
                // A segment contains three blocks of 1 MiB and their headers.
                int objects = 3 * SEGMENTS * 5 / 2 / STEPS;
                for (int step = 1; step <= STEPS; step++) {
                    for (int i = 0; i < objects; i++) {
                        putLarge(store, "new" + i % 7, 1 << 20, step);
                    }
                    System.out.println("wrote " + step);
                }
                store.sync();
                System.out.println(
                        "reclaimed=" + store.store.statistics().counters().segmentsReclaimed());
                if (System.in.read() >= 0) {
                    throw new IllegalStateException("expected the end");
                }
            }
        }
    }

    /** Stores an object. Waits for the disk when all memory for fills is waiting to be written. */
    private static void putLarge(TestStore test, String key, int length, int seed) {
        if (!tryPutLarge(test, key, length, seed)) {
            test.sync();
            assertTrue(tryPutLarge(test, key, length, seed), key);
        }
    }

    private static boolean tryPutLarge(TestStore test, String key, int length, int seed) {
        ObjectWriter<TextHead> writer = test.store.create(test.key(key));
        writer.head(TextHead.of("h"), length);
        int piece = 256 << 10;
        for (int from = 0; from < length; from += piece) {
            TestStore.awaitWritable(writer);
            ByteBuf content = Unpooled.buffer(piece);
            for (int at = from; at < from + piece; at += Long.BYTES) {
                content.writeLong(word(at, seed));
            }
            writer.write(from, content);
        }
        writer.complete(length);
        return !writer.isFailed();
    }

    /** Continues to read at least up to the position, and compares each byte. */
    private static long check(StoredObject<?> object, long from, long to) throws IOException {
        long at = from;
        while (at < to) {
            byte[] bytes = TestStore.readSome(object, at, 64 << 10);
            assertTrue(bytes.length > 0);
            for (int i = 0; i < bytes.length; i++, at++) {
                byte expected = (byte) (word(at & -Long.BYTES, 1) >>> (56 - 8 * (at & 7)));
                if (bytes[i] != expected) {
                    assertEquals(expected, bytes[i], "byte " + at);
                }
            }
        }
        return at;
    }

    private static long word(long position, int seed) {
        long mixed = (position + seed) * 0x9E37_79B9_7F4A_7C15L;
        return (mixed ^ (mixed >>> 29)) * 0xBF58_476D_1CE4_E5B9L;
    }
}
