package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionConfigException;
import io.millrace.proxy.spi.ExtensionContext;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Arrays;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The module of one extension with its instances, and the check of its file. If the file changes, the new module serves
 * the next calls, and the instances of the old one end after their last call.
 *
 * <p>Thread-safe.
 */
final class WasmFilter implements AutoCloseable {
    /** A module with its instances. */
    private record Running(
            WasmProgram program,
            @Nullable RequestWorkers requests,
            @Nullable ResponseInstances responses) {}

    /** The state of the file, by which a change is found. */
    private record Stamp(FileTime modified, long length) {}

    private final ExtensionContext context;
    private final Shared shared;
    private volatile Running running;
    private final @Nullable ScheduledFuture<?> check;

    /** Used by the check only. */
    private Stamp stamp;

    private Stamp seen;
    private byte[] bytes;

    private WasmFilter(ExtensionContext context, Shared shared) throws IOException, InterruptedException {
        this.context = context;
        this.shared = shared;
        Path file = shared.settings().module();
        stamp = stampOf(file);
        seen = stamp;
        bytes = read(file);
        running = start(bytes);
        long nanos = shared.settings().reloadNanos();
        check = nanos == 0
                ? null
                : context.executor().scheduleWithFixedDelay(this::reloadIfChanged, nanos, nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Reads the configuration, and starts the module.
     *
     * @throws ExtensionConfigException if the configuration is not valid, or the module cannot be used
     */
    static WasmFilter open(ExtensionContext context) throws ExtensionConfigException, InterruptedException {
        Shared shared = Shared.of(context, WasmSettings.of(context.config()));
        Path file = shared.settings().module();
        try {
            return new WasmFilter(context, shared);
        } catch (NoSuchFileException e) {
            throw context.config().problem("module", file + ": no such file");
        } catch (IOException e) {
            throw context.config().problem("module", file + " cannot be read: " + e);
        } catch (RuntimeException e) {
            throw context.config().problem("module", file + " " + messageOf(e));
        }
    }

    private static String messageOf(RuntimeException fault) {
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
        boolean needsThreads = program.has(WasmInstance.ON_REQUEST) || program.has(WasmInstance.ON_TICK);
        RequestWorkers requests = needsThreads ? new RequestWorkers(program, shared) : null;
        if (requests != null) {
            requests.start();
        }
        ResponseInstances responses = program.has(WasmInstance.ON_RESPONSE)
                ? new ResponseInstances(program, shared, context.executor())
                : null;
        try {
            if (responses != null) {
                responses.start(Math.max(
                        shared.settings().instances(), Runtime.getRuntime().availableProcessors()));
            }
        } catch (RuntimeException e) {
            if (requests != null) {
                requests.close();
            }
            throw e;
        }
        return new Running(program, requests, responses);
    }

    /** Loads the file again if it has changed and has then stayed the same for one interval. */
    private void reloadIfChanged() {
        try {
            Stamp now = stampOf(shared.settings().module());
            boolean isSettled = now.equals(seen);
            seen = now;
            if (!isSettled || now.equals(stamp)) {
                return;
            }
            stamp = now;
            byte[] read = read(shared.settings().module());
            if (Arrays.equals(read, bytes)) {
                return;
            }
            bytes = read;
            Running before = running;
            running = start(read);
            retire(before);
            shared.log().report("loaded the changed module " + shared.settings().module());
        } catch (IOException | RuntimeException | StackOverflowError e) {
            shared.log()
                    .once(
                            "reload " + stamp,
                            "the changed module " + shared.settings().module() + " was not loaded, the old one stays: "
                                    + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void retire(Running old) {
        if (old.requests() != null) {
            old.requests().retire();
        }
    }

    Shared shared() {
        return shared;
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
                call.failed(new WasmFailure("the module has no callback for requests"));
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
        if (check != null) {
            check.cancel(false);
        }
        Running last = running;
        if (last.requests() != null) {
            last.requests().close();
        }
    }
}
