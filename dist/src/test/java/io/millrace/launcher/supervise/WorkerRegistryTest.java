package io.millrace.launcher.supervise;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.process.WorkerProcess;
import io.millrace.launcher.process.WorkerStarter;
import io.millrace.launcher.process.WorkerState;
import io.millrace.proxy.config.problem.ConfigDocument;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ControlMessage;
import io.millrace.worker.control.ControlPaths;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class WorkerRegistryTest {
    @TempDir
    Path directory;

    private final EventLoop loop = new DefaultEventLoop();
    private final CompletableFuture<String> exit = new CompletableFuture<>();
    private final AtomicInteger distrusted = new AtomicInteger();

    private final WorkerRegistry.Listener listener = new WorkerRegistry.Listener() {
        @Override
        public void exited(WorkerProcess worker, WorkerState before, String cause) {
            exit.complete(cause);
        }

        @Override
        public void killed(WorkerProcess worker) {}
    };

    /** Runs a shell in place of a worker. */
    private final class Shell implements WorkerStarter {
        private final String command;
        private Process started;

        Shell(String command) {
            this.command = command;
        }

        @Override
        public Process start(long generation) throws IOException {
            started = new ProcessBuilder("sh", "-c", "cat; " + command).start();
            return started;
        }

        @Override
        public boolean discardArchive() {
            return distrusted.incrementAndGet() == 1;
        }
    }

    /**
     * @param ready true if the worker becomes ready before the command continues after reading its input
     */
    private String exitOf(String command, boolean ready) throws Exception {
        Shell shell = new Shell(command);
        WorkerProcess worker = launched(registry(), shell);
        if (ready) {
            loop.submit(() -> worker.connected(new EmbeddedChannel())).get();
            loop.submit(() -> worker.becameReady(new ControlMessage.Ready("epoll", "none", "17"), System.nanoTime()))
                    .get();
        }
        shell.started.getOutputStream().close();
        return exit.get();
    }

    private WorkerRegistry registry() {
        return new WorkerRegistry(loop, new ControlPaths(directory), TimeUnit.SECONDS.toNanos(60), listener);
    }

    private WorkerProcess launched(WorkerRegistry workforce, Shell shell) throws Exception {
        ConfigSource source =
                new ConfigSource(new ConfigDocument("m.yaml", Path.of("/"), "", Map.of()), Map.of(), Map.of());
        return loop.submit(() -> workforce.launch(new WorkerPlan(source, shell, null), false))
                .get();
    }

    @AfterEach
    void close() {
        loop.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    }

    @Test
    void theArchiveIsDiscardedAfterACrashDuringTheStart() throws Exception {
        assertEquals("was killed by signal 6", exitOf("kill -ABRT $$", false));
        assertEquals(1, distrusted.get());
    }

    @Test
    void soItIsWhenItCrashesJustAfter() throws Exception {
        assertEquals("was killed by signal 11", exitOf("kill -SEGV $$", true));
        assertEquals(1, distrusted.get());
    }

    @Test
    void soItIsWhenTheJvmEndsBeforeTheWorkerHasConnected() throws Exception {
        assertEquals("exited with status 1", exitOf("exit 1", false));
        assertEquals(1, distrusted.get());
    }

    @Test
    void aWorkerThatGivesUpIsNoReasonForThat() throws Exception {
        assertEquals("exited with status 1", exitOf("exit 1", true));
        assertEquals(0, distrusted.get());
    }

    @Test
    void aWorkerThatSomebodyKillsIsNoReasonForThat() throws Exception {
        assertEquals("was killed by signal 9", exitOf("kill -KILL $$", false));
        assertEquals(0, distrusted.get());
    }

    @Test
    void theCauseOfAKillIsTheReasonOfTheLauncher() throws Exception {
        WorkerRegistry workforce = registry();
        WorkerProcess worker = launched(workforce, new Shell("true"));
        loop.submit(() -> workforce.kill(worker, "did not become ready in time"))
                .get();
        assertEquals("did not become ready in time and was killed by the launcher", exit.get());
    }

    @Test
    void aWorkerThatIsTakenOverBeatsAsItsLauncherHadIt() throws Exception {
        Process left = new ProcessBuilder("sleep", "60").start();
        try {
            WorkerRegistry workforce = registry();
            long patience = TimeUnit.MINUTES.toNanos(10);
            WorkerIdentity.Survivor survivor = new WorkerIdentity.Survivor(left.toHandle(), 1, patience);

            long timeoutNanos = loop.submit(
                            () -> workforce.adopt(survivor).heartbeat().timeoutNanos())
                    .get();
            assertEquals(patience, timeoutNanos);
        } finally {
            left.destroyForcibly();
        }
    }
}
