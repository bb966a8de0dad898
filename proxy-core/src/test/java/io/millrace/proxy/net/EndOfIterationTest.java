package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class EndOfIterationTest {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private final ConnectionSet connections = new ConnectionSet(channel.eventLoop(), 10, () -> {});
    private final List<String> run = new ArrayList<>();

    @Test
    void tasksRunInTheirOrderAlsoThoseOfOtherTasks() {
        connections.atEndOfIteration(() -> {
            run.add("first");
            connections.atEndOfIteration(() -> run.add("third"));
        });
        connections.atEndOfIteration(() -> run.add("second"));
        assertEquals(List.of(), run);
        channel.runPendingTasks();
        assertEquals(List.of("first", "second", "third"), run);
    }

    @Test
    void tasksThatTasksAddWaitForOtherTasksOfTheLoop() {
        connections.atEndOfIteration(() -> {
            run.add("first");
            connections.atEndOfIteration(() -> run.add("added by first"));
        });
        channel.eventLoop().execute(() -> run.add("other task of the loop"));
        channel.runPendingTasks();
        assertEquals(List.of("first", "other task of the loop", "added by first"), run);
    }

    @Test
    void aTaskThatThrowsAnExceptionDoesNotStopTheOthers() {
        connections.atEndOfIteration(() -> {
            throw new IllegalStateException("expected");
        });
        connections.atEndOfIteration(() -> run.add("second"));
        channel.runPendingTasks();
        channel.runPendingTasks();
        assertEquals(List.of("second"), run);
    }
}
