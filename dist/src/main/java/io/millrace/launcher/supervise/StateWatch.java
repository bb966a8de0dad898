package io.millrace.launcher.supervise;

import io.millrace.launcher.exit.FileFailure;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.state.InstanceLock;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.value.FileMode;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The periodic check for files that were deleted from the state directory. It restores them, because without them later
 * workers could not connect to the launcher.
 *
 * <p>Not thread-safe; confined to the event loop.
 */
public final class StateWatch {
    private static final Logger LOG = LoggerFactory.getLogger(StateWatch.class);

    private static final long PERIOD_MILLIS = 1000;

    private final StateDirectory state;
    private final FileMode mode;
    private final InstanceLock lock;
    private final ControlServer server;
    private final Runnable identityWriter;
    /** The last logged failure; empty after a successful check. */
    private String reported = "";

    /**
     * @param mode permissions of restored directories
     * @param identityWriter rewrites the file that identifies the worker
     */
    public StateWatch(
            StateDirectory state, FileMode mode, InstanceLock lock, ControlServer server, Runnable identityWriter) {
        this.state = state;
        this.mode = mode;
        this.lock = lock;
        this.server = server;
        this.identityWriter = identityWriter;
    }

    /** Starts to check the files once a second, until the loop ends. May be called on any thread. */
    public void start(EventLoop loop) {
        var unused = loop.scheduleWithFixedDelay(this::check, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void check() {
        try {
            restore();
            reported = "";
        } catch (IOException e) {
            report(FileFailure.text(e));
        } catch (LaunchException e) {
            report(String.valueOf(e.getMessage()));
        }
    }

    /** Logs a failure once, even if it occurs at every check. */
    private void report(String fault) {
        if (!fault.equals(reported)) {
            reported = fault;
            LOG.error("a deleted file or directory of the state directory cannot be created again: {}", fault);
        }
    }

    void restore() throws IOException, LaunchException {
        for (Path directory : List.of(
                state.state(), state.log(), state.runtime(), state.control().directory())) {
            if (!Files.isDirectory(directory)) {
                state.create(mode);
                LOG.warn("{} was deleted and is created again", directory);
            }
        }
        if (lock.restore()) {
            LOG.warn("the lock file {} was deleted and is created and locked again", state.lock());
        }
        boolean socketsRestored = server.restore();
        if (socketsRestored) {
            LOG.warn(
                    "sockets in {} were deleted and are created again",
                    state.control().directory());
        }
        if (socketsRestored || !Files.exists(state.control().workerIdentity())) {
            identityWriter.run();
        }
    }
}
