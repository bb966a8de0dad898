package io.millrace.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class StoreChangeSenderTest {
    private final List<String> failures = new ArrayList<>();

    private void note(IOException failure) {
        failures.add(failure == null ? "" : String.valueOf(failure.getMessage()));
    }

    /** With a successor that never answers, at most the limit of changes wait. Each change is answered once. */
    @Test
    void changesThatWaitAreBounded() {
        StoreChangeSender changes = StoreChangeSender.toSuccessor(message -> true);
        for (int i = 0; i < StoreChangeSender.UNANSWERED_MAX; i++) {
            changes.apply(new byte[1], this::note);
        }
        assertEquals(List.of(), failures);
        changes.apply(new byte[1], this::note);
        assertEquals(1, failures.size());
        assertTrue(failures.get(0).contains("limit=" + StoreChangeSender.UNANSWERED_MAX), failures.get(0));
        changes.answerAll(null);
        assertEquals(StoreChangeSender.UNANSWERED_MAX + 1, failures.size());
        changes.apply(new byte[1], this::note);
        assertEquals(StoreChangeSender.UNANSWERED_MAX + 1, failures.size(), "there is room again");
    }
}
