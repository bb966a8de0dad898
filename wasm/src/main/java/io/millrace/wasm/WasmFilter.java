package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The module of one extension with its instances, and the check of its file. If the file changes, the new module serves
 * the next calls, and the instances of the old one end after their last call. The filter has two threads that check the
 * file, start the changed module and start further instances, because a start may take 30 seconds.
 *
 * <p>Thread-safe.
 */
final class WasmFilter implements AutoCloseable {
    /** A module with its instances. */
    private record Running(
            WasmProgram program,
            @Nullable RequestWorkers requests,
            @Nullable ResponseInstances responses) {}

    /** The state of the file, with which changes are detected. */
    private record Stamp(FileTime modified, long length) {}

    /** One thread for the check of the file, one for further instances for responses. */
    private static final int START_THREADS = 2;

    private final Shared shared;
    /** Runs the checks of the file, and the starts of modules and of further instances. */
    private final ScheduledExecutorService starts;

    private final Lock lock = new ReentrantLock();

    /** Guarded by the lock. */
    private boolean isClosed;

    /** Instances of old modules, which end after their paused requests. Guarded by the lock. */
    private final List<RequestWorkers> retired = new ArrayList<>();

    /** The module that gets the next calls. After construction, written under the lock only. */
    private volatile Running running;

    /** The state of the file when it was last read. This field and the next two are used by the check only. */
    private Stamp stamp;

    /** The state of the file at the last check. */
    private Stamp stampAtLastCheck;

    /** The module in use. */
    private byte[] bytes;

    private WasmFilter(Shared shared, ScheduledExecutorService starts) throws IOException, InterruptedException {
        this.shared = shared;
        this.starts = starts;
        Path file = shared.settings().module();
        stamp = stampOf(file);
        stampAtLastCheck = stamp;
        bytes = read(file);
        running = start(bytes);
    }

    private static ScheduledExecutorService threads(String name) {
        AtomicInteger count = new AtomicInteger();
        return new ScheduledThreadPoolExecutor(START_THREADS, task -> {
            Thread thread = new Thread(task, "millrace-wasm-start-" + name + "-" + count.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
    }

    /** Begins the checks of the file. */
    private void watchFile() {
        long nanos = shared.settings().reloadNanos();
        if (nanos > 0) {
            ScheduledFuture<?> ignored =
                    starts.scheduleWithFixedDelay(this::reloadIfChanged, nanos, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Reads the configuration, and starts the module.
     *
     * @param hasBodies whether the extension passes contents of responses to the module
     * @throws ExtensionConfigException if the configuration is not valid, or the module cannot be used
     */
    static WasmFilter open(ExtensionContext context, boolean hasBodies)
            throws ExtensionConfigException, InterruptedException {
        Shared shared = Shared.of(context, WasmSettings.of(context.config(), hasBodies));
        Path file = shared.settings().module();
        ScheduledExecutorService starts = threads(shared.name());
        boolean isOpen = false;
        try {
            WasmFilter filter = new WasmFilter(shared, starts);
            filter.watchFile();
            isOpen = true;
            return filter;
        } catch (NoSuchFileException e) {
            throw context.config().problem("module", file + ": no such file");
        } catch (IOException e) {
            throw context.config().problem("module", file + " cannot be read: " + e);
        } catch (RuntimeException | StackOverflowError e) {
            throw context.config().problem("module", file + " " + messageOf(e));
        } finally {
            if (!isOpen) {
                starts.shutdownNow();
                shared.close();
            }
        }
    }

    private static String messageOf(Throwable fault) {
        return fault instanceof WasmFailure ? String.valueOf(fault.getMessage()) : "cannot be started: " + fault;
    }

    private static Stamp stampOf(Path file) throws IOException {
        return new Stamp(Files.getLastModifiedTime(file), Files.size(file));
    }

    private static byte[] read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] read = in.readNBytes((int) WasmProgram.BYTES_MAX + 1);
            if (read.length > WasmProgram.BYTES_MAX) {
                throw new IOException("it has more bytes than the limit of " + WasmProgram.BYTES_MAX);
            }
            return read;
        }
    }

    private Running start(byte[] module) throws InterruptedException {
        WasmProgram program = WasmProgram.load(module, shared);
        boolean needsThreads = program.has(WasmInstance.ON_REQUEST)
                || program.has(WasmInstance.ON_TICK)
                || shared.settings().hasBodies();
        RequestWorkers requests = needsThreads ? new RequestWorkers(program, shared) : null;
        ResponseInstances responses =
                program.has(WasmInstance.ON_RESPONSE) ? new ResponseInstances(program, shared, starts) : null;
        boolean isStarted = false;
        try {
            if (requests != null) {
                requests.start();
            }
            if (responses != null) {
                responses.start(Math.max(
                        shared.settings().instances(), Runtime.getRuntime().availableProcessors()));
            }
            isStarted = true;
            return new Running(program, requests, responses);
        } finally {
            if (!isStarted && requests != null) {
                requests.close();
            }
        }
    }

    /** Loads the file again if it has changed and has then stayed the same for one interval. */
    private void reloadIfChanged() {
        try {
            Stamp now = stampOf(shared.settings().module());
            boolean isSettled = now.equals(stampAtLastCheck);
            stampAtLastCheck = now;
            if (!isSettled || now.equals(stamp)) {
                return;
            }
            stamp = now;
            byte[] read = read(shared.settings().module());
            if (Arrays.equals(read, bytes)) {
                return;
            }
            Running started = start(read);
            if (replace(started)) {
                bytes = read;
                shared.log()
                        .report("loaded the changed module " + shared.settings().module());
            } else if (started.requests() != null) {
                started.requests().close();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Throwable e) {
            // Also catches errors such as OutOfMemoryError, which would otherwise end the checks without a message.
            if (!starts.isShutdown()) {
                shared.log()
                        .once(
                                "reload " + stamp,
                                "the changed module " + shared.settings().module()
                                        + " was not loaded, the old one stays: "
                                        + (e instanceof WasmFailure ? e.getMessage() : e));
            }
        }
    }

    /**
     * Makes a started module the current one, which gets the next calls, and retires the module before it. Returns
     * false if the extension is closed.
     */
    private boolean replace(Running started) {
        RequestWorkers before;
        lock.lock();
        try {
            if (isClosed) {
                return false;
            }
            before = running.requests();
            running = started;
            retired.removeIf(each -> !each.isAlive());
            if (before != null) {
                // Under the same lock as the replacement, so that a concurrent close() ends these threads too.
                retired.add(before);
            }
        } finally {
            lock.unlock();
        }
        if (before != null) {
            before.retire();
        }
        return true;
    }

    Shared shared() {
        return shared;
    }

    /** Names the callbacks of the module that are never called; empty if there are none. */
    String note() {
        List<String> notCalled = running.program().notCalled();
        return notCalled.isEmpty() ? "" : "not called: " + String.join(", ", notCalled);
    }

    /** Returns true if the module has a callback for requests. */
    boolean seesRequests() {
        return running.program().has(WasmInstance.ON_REQUEST);
    }

    /** Returns true if the module has a callback for responses. */
    boolean seesResponses() {
        return running.responses() != null;
    }

    /** Passes a call to the instances for requests. Never blocks. */
    void submit(RequestWorkers.Call call) {
        for (; ; ) {
            Running now = running;
            RequestWorkers requests = now.requests();
            if (requests == null) {
                call.failed(new WasmFailure("the module has no callback for requests or contents"));
                return;
            }
            if (requests.submit(call)) {
                return;
            }
            if (now.equals(running)) {
                call.failed(new WasmFailure("the extension is closed"));
                return;
            }
        }
    }

    /** Runs the callbacks for a response on this thread. */
    void respond(HttpContext message) {
        ResponseInstances responses = running.responses();
        if (responses != null) {
            responses.run(message);
        }
    }

    @Override
    public void close() {
        Running last;
        List<RequestWorkers> old;
        lock.lock();
        try {
            isClosed = true;
            last = running;
            old = List.copyOf(retired);
        } finally {
            lock.unlock();
        }
        // Interrupts the start of a changed module. The instances that were already started for it then end.
        starts.shutdownNow();
        if (last.requests() != null) {
            last.requests().close();
        }
        old.forEach(RequestWorkers::abort);
        shared.close();
    }
}
