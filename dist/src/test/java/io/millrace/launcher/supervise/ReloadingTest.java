package io.millrace.launcher.supervise;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.process.HeartbeatWatch;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.SettingChange;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ReloadingTest {
    private static final List<SettingChange> APPLIED = List.of(new SettingChange("via.name", "applied", ""));
    private static final List<SettingChange> REJECTED = List.of(new SettingChange("via.name", "rejected", "why"));

    private final EmbeddedChannel control = new EmbeddedChannel();
    private final List<ConfigSource> taken = new ArrayList<>();
    private final Reloading reloading = new Reloading(control.eventLoop(), taken::add);
    private final WorkerProcess worker =
            new WorkerProcess(1, ProcessHandle.current(), null, false, new HeartbeatWatch(1, 0), Long.MAX_VALUE);

    @BeforeEach
    void connect() {
        control.freezeTime();
        worker.connected(control);
        worker.setProtocolVersion(ControlMessage.PROTOCOL_VERSION);
    }

    private static ConfigSource source(String name) {
        return new ConfigSource(new ConfigDocument(name, Path.of("/"), "", Map.of()), Map.of(), Map.of());
    }

    private CompletableFuture<List<SettingChange>> ask(String name) {
        CompletableFuture<List<SettingChange>> answer = new CompletableFuture<>();
        reloading.send(worker, source(name), answer);
        return answer;
    }

    /** Returns the number of the reload that the worker has just received. */
    private long sent() {
        return ((ControlMessage.Reload) control.readOutbound()).request();
    }

    private void answers(long request, List<SettingChange> settings) {
        reloading.answered(worker, new ControlMessage.Reloaded(request, settings));
    }

    private void passTheTimeout() {
        control.advanceTimeBy(Reloading.TIMEOUT_SECONDS, TimeUnit.SECONDS);
        control.runScheduledPendingTasks();
    }

    @Test
    void aLateAnswerIsNotUsedForTheNextRequest() {
        CompletableFuture<List<SettingChange>> first = ask("one");
        long late = sent();
        passTheTimeout();
        CompletionException failure = assertThrows(CompletionException.class, first::join);
        assertInstanceOf(TimeoutException.class, failure.getCause());
        assertFalse(reloading.isInProgress());

        CompletableFuture<List<SettingChange>> second = ask("two");
        answers(late, APPLIED);
        assertFalse(second.isDone());
        assertEquals(List.of(), taken);
        answers(sent(), APPLIED);
        assertEquals(APPLIED, second.join());
        assertEquals(List.of(source("two")), taken);
    }

    @Test
    void anAnswerInTimeKeepsItsPlaceWhenTheTimeIsOver() {
        CompletableFuture<List<SettingChange>> first = ask("one");
        answers(sent(), APPLIED);
        CompletableFuture<List<SettingChange>> second = ask("two");
        control.advanceTimeBy(Reloading.TIMEOUT_SECONDS - 1, TimeUnit.SECONDS);
        control.runScheduledPendingTasks();

        assertEquals(APPLIED, first.join());
        assertTrue(reloading.isInProgress());
        assertFalse(second.isDone());
    }

    @Test
    void rejectedSettingsAreNotApplied() {
        CompletableFuture<List<SettingChange>> answer = ask("one");
        answers(sent(), REJECTED);

        assertEquals(REJECTED, answer.join());
        assertEquals(List.of(), taken);
    }

    @Test
    void numbersOfAnotherLauncherAreOthers() {
        var unused = ask("one");
        Reloading another = new Reloading(control.eventLoop(), taken::add);
        another.send(worker, source("one"), new CompletableFuture<>());

        long one = sent();
        assertNotEquals(one, sent(), "a launcher that died may have asked the same worker");
    }
}
