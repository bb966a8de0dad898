package io.millrace.proxy.admin.data;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.store.CacheStore;
import io.millrace.store.HeadSummary;
import io.millrace.store.InventoryStatistics;
import io.millrace.store.Journal;
import io.millrace.store.ListCallback;
import io.millrace.store.ListResult;
import io.millrace.store.ListVisitor;
import io.millrace.store.ListedObject;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A count is complete only if every slice of it was read. */
class PurgeCountTest {
    private static final String MANY = "too many listings at once: limit=16";

    /** Answers to the calls of {@link CacheStore#list}, in order; a call without an answer waits for the next one. */
    private final Deque<String> answers = new ArrayDeque<>();

    private final PurgeCount count = PurgeCount.ofDryRun(
            store(), Invalidator.over(new NoJournal(), () -> 0, () -> 0), List.of(InvalidationScope.all()));
    private ListVisitor visitor;
    private ListCallback reply;
    private Runnable onInventory = () -> {};

    /** A journal without entries. */
    private static final class NoJournal implements Journal {
        @Override
        public void attach(Owner owner) {
            owner.recovered(List.of(), Condition.COMPLETE);
        }

        @Override
        public void append(Entry entry, Executor replyOn, AppendCallback reply) {
            throw new AssertionError(entry);
        }
    }

    @SuppressWarnings("unchecked")
    private CacheStore<StoredHead> store() {
        return (CacheStore<StoredHead>) Proxy.newProxyInstance(
                PurgeCountTest.class.getClassLoader(),
                new Class<?>[] {CacheStore.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "list" -> {
                        visitor = (ListVisitor) arguments[1];
                        reply = (ListCallback) arguments[3];
                        if (!answers.isEmpty()) {
                            answer(answers.remove());
                        }
                        yield null;
                    }
                    case "contains" -> true;
                    case "inventory" -> {
                        onInventory.run();
                        yield new InventoryStatistics(0, 0, 0, true, null);
                    }
                    default -> null;
                });
    }

    private void answer(String word) {
        if (word.startsWith("cancel-")) {
            count.cancel();
        }
        reply.listed(
                switch (word) {
                    case "more", "cancel-more" -> new ListResult("0.1", true, null);
                    case "more-missing" -> new ListResult("0.1", false, null);
                    case "end", "cancel-end" -> new ListResult(null, true, null);
                    case "end-missing" -> new ListResult(null, false, null);
                    case "many" -> new ListResult(null, false, MANY);
                    case "handed-over" -> new ListResult(null, true, "handed over");
                    default -> throw new IllegalArgumentException(word);
                });
    }

    private void show(String key) {
        byte[] bytes = key.getBytes(StandardCharsets.ISO_8859_1);
        if (visitor.mayMatch(bytes)) {
            visitor.visit(new ListedObject(
                    bytes, Path.of("/v"), 1, 64, 10, 7, true, 0, new HeadSummary(1, "200\n\n\n1\n\n", List.of())));
        }
    }

    private static PurgeRecord record(char letter, PurgeState state) {
        return new PurgeRecord(letter + "1", 1, PurgeClient.EMBEDDED, "all", "everything", null, false, state, -1, -1);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "end, true,",
        "more end, true,",
        "end-missing, true, 'the inventory is being written from the segments, or a storage path is offline'",
        "more-missing more end, true, 'the inventory is being written from the segments, or a storage path is offline'",
        "many, false, the count ended early: " + MANY,
        "more many, false, the count ended early: " + MANY,
        "more more handed-over, false, the count ended early: handed over",
        "more-missing many, false, the count ended early: " + MANY,
        "more cancel-more, false,",
        "cancel-end, false,",
        "more-missing cancel-more, false, 'the inventory is being written from the segments, or a storage path is offline'"
    })
    void aCountIsCompleteIfEverySliceWasRead(String slices, boolean isWhole, String note) {
        answers.addAll(List.of(slices.split(" ", -1)));
        count.start();
        assertTrue(answers.isEmpty());
        // A cancellation after the end changes nothing.
        count.cancel();
        Count counted = count.count();
        assertEquals(isWhole, count.isWhole());
        assertEquals(note, counted.note());
        assertEquals(
                isWhole ? PurgeState.DONE : PurgeState.CANCELLED,
                PurgeAdmin.withCount(record('d', PurgeState.COUNTING), count, counted)
                        .state());
        PurgeRecord purge = PurgeAdmin.withCount(record('s', PurgeState.DONE), count, counted);
        assertEquals(PurgeState.DONE, purge.state());
        assertEquals(isWhole ? 0 : -1, purge.objects());
    }

    @Test
    void aCountThatIsOverHasTheFinalNumbers() {
        count.start();
        onInventory = () -> {
            onInventory = () -> {};
            show("http://h/");
            answer("end");
        };
        Count during = count.count();
        assertEquals("0 false", during.objects() + " " + during.isOver());
        Count after = count.count();
        assertEquals("1 true", after.objects() + " " + after.isOver());
    }

    /** Variants of a URL share its line in the list of URLs, so that only a further URL is left out. */
    @Test
    void urlsAreLeftOutOnlyBeyondTheLimit() {
        count.start();
        for (int i = 0; i < PurgeCount.URLS_MAX; i++) {
            show("http://h/" + i);
            show("http://h/" + i + "\0gzip");
        }
        answer("more");
        Count listed = count.count();
        assertEquals(2 * PurgeCount.URLS_MAX, listed.objects());
        assertEquals(PurgeCount.URLS_MAX, listed.urls().size());
        assertFalse(listed.hasMoreUrls());
        show("http://h/more");
        answer("end");
        assertEquals(PurgeCount.URLS_MAX, count.count().urls().size());
        assertTrue(count.count().hasMoreUrls());
    }
}
