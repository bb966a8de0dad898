package io.millrace.proxy.purge.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.purge.fleet.FleetPurge.Action;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the file of purges that wait for the fleet, and the queue in front of it. */
class FleetOutboxTest {
    private static final FleetPurge ALL = FleetPurge.of(Action.ALL, List.of(), false);

    @TempDir
    Path directory;

    private static byte[] line(String text) {
        return (text + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> texts(FleetOutboxFile.Lines lines) {
        return lines.lines().stream()
                .map(line -> new String(line, StandardCharsets.UTF_8))
                .toList();
    }

    /** A model of the file as a list of lines; the reader may be a new process at any time. */
    @Test
    void theFileHasTheAppendedLinesInOrder() throws IOException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        FleetOutboxFile file = new FleetOutboxFile(directory);
        List<String> model = new ArrayList<>();
        int number = 0;
        for (int i = 0; i < 300; i++) {
            switch (random.nextInt(4)) {
                case 0, 1 -> {
                    List<byte[]> added = new ArrayList<>();
                    for (int n = random.nextInt(4); n >= 0; n--) {
                        String text = "purge " + number++ + " " + "x".repeat(random.nextInt(60));
                        model.add(text);
                        added.add(line(text));
                    }
                    assertEquals(
                            file.size()
                                    + added.stream()
                                            .mapToLong(one -> one.length)
                                            .sum(),
                            file.append(added));
                }
                case 2 -> {
                    int removed = random.nextInt(model.size() + 1);
                    long offset = model.subList(0, removed).stream()
                            .mapToLong(text -> text.length() + 1)
                            .sum();
                    file.removeBefore(offset);
                    model.subList(0, removed).clear();
                }
                default -> file = new FleetOutboxFile(directory);
            }
            FleetOutboxFile.Lines all = file.read(0, 1 << 16);
            assertEquals(model, texts(all));
            assertEquals(file.size(), all.end());
        }
    }

    @Test
    void aTornLineIsClosedByTheNextOne() throws IOException {
        FleetOutboxFile file = new FleetOutboxFile(directory);
        file.append(List.of(line("first")));
        Files.write(
                directory.resolve("outbox.jsonl"), "to".getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
        assertEquals(List.of("first"), texts(file.read(0, 1000)));
        file.append(List.of(line("second")));
        assertEquals(List.of("first", "to", "second"), texts(file.read(0, 1000)));
    }

    @Test
    void onlyTheFirstReadOfTheInstanceBlocks() throws IOException {
        try (FleetOutbox outbox = FleetOutbox.in(directory, () -> null)) {
            assertEquals(false, outbox.isInstanceKnown());
            String instance = outbox.instance();
            assertEquals(true, outbox.isInstanceKnown());
            assertEquals(new FleetOutboxFile(directory).instance(), instance);
        }
        assertEquals(true, FleetOutbox.none().isInstanceKnown());
    }

    @Test
    void theIdentifierOfADirectoryStays() throws IOException {
        String instance = new FleetOutboxFile(directory).instance();
        assertEquals(16, instance.length());
        assertEquals(instance, new FleetOutboxFile(directory).instance());
        assertNotEquals(instance, new FleetOutboxFile(directory.resolve("other")).instance());
    }

    @Test
    void aPurgeIsAnsweredWhenItIsInTheFile() throws Exception {
        try (FleetOutbox outbox = FleetOutbox.in(directory, () -> new FleetOutbox.Member("cdn", "n1", 1000))) {
            assertNull(outbox.refusal(ALL));
            CompletableFuture<IOException> answer = new CompletableFuture<>();
            outbox.add(ALL, "s1", Runnable::run, answer::complete);
            assertNull(answer.get());
            byte[] line = new FleetOutboxFile(directory).read(0, 1000).lines().get(0);
            FleetMessage message = FleetCodec.read(line, "n1", "cdn");
            assertEquals("n1:s1", message.id());
            assertEquals(ALL, message.purge());
        }
    }

    @Test
    void aFullOutboxAndALongPurgeAreRefused() throws Exception {
        try (FleetOutbox outbox = FleetOutbox.in(directory, () -> new FleetOutbox.Member("cdn", "n1", 50))) {
            CompletableFuture<IOException> answer = new CompletableFuture<>();
            outbox.add(ALL, "s1", Runnable::run, answer::complete);
            answer.get();
            assertTrue(String.valueOf(outbox.refusal(ALL)).contains("fleet.outbox_size, 50 bytes"));
        }
        try (FleetOutbox outbox = FleetOutbox.in(directory, () -> new FleetOutbox.Member("cdn", "n1", 1L << 20))) {
            String longTag = "t".repeat(FleetCodec.MESSAGE_BYTES_MAX);
            assertNotNull(outbox.refusal(FleetPurge.of(Action.TAG, List.of(longTag), false)));
        }
    }

    @Test
    void withoutAFleetNothingIsQueued() throws Exception {
        FleetOutbox none = FleetOutbox.none();
        CompletableFuture<IOException> answer = new CompletableFuture<>();
        none.add(ALL, "s1", Runnable::run, answer::complete);
        assertNull(answer.get());
        assertNull(none.refusal(ALL));
    }
}
