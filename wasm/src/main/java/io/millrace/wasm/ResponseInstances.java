package io.millrace.wasm;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The instances for responses. The hooks for responses cannot wait, so their callbacks run on event loops. The
 * module is interpreted there, so that a callback can be stopped at a limit of instructions. New instances are started
 * on other threads.
 *
 * <p>Thread-safe. Only {@link #start} blocks.
 */
final class ResponseInstances {
    /** Limit of the instructions of a module's start. */
    private static final long START_INSTRUCTIONS = 1_000_000_000L;

    /** Limit of instances. */
    private static final int INSTANCES_MAX = 128;

    private final WasmProgram program;
    private final Shared shared;
    private final Executor executor;
    private final Queue<WasmInstance> free = new ConcurrentLinkedQueue<>();
    /** Instances that are free, in use or being started. */
    private final AtomicInteger count = new AtomicInteger();

    /** @param executor runs the start of modules */
    ResponseInstances(WasmProgram program, Shared shared, Executor executor) {
        this.program = program;
        this.shared = shared;
        this.executor = executor;
    }

    /**
     * Starts the first instances on this thread.
     *
     * @throws RuntimeException if the module cannot be started
     */
    void start(int instances) {
        for (int i = 0; i < instances; i++) {
            count.incrementAndGet();
            free.add(create());
        }
    }

    private WasmInstance create() {
        return new WasmInstance(
                program, shared, START_INSTRUCTIONS, shared.settings().responseInstructions(), null);
    }

    /**
     * Runs the callbacks for a response.
     *
     * @throws RuntimeException if a callback has failed, or no instance is free
     */
    void run(HttpContext message) {
        WasmInstance instance = free.poll();
        if (instance == null) {
            startAnother();
            throw new WasmFailure("no instance for responses is free; another one is being started");
        }
        boolean isSound = false;
        try {
            instance.response(message);
            isSound = true;
        } finally {
            if (isSound) {
                free.add(instance);
            } else {
                count.decrementAndGet();
                startAnother();
            }
        }
    }

    private void startAnother() {
        if (count.incrementAndGet() > INSTANCES_MAX) {
            count.decrementAndGet();
            return;
        }
        try {
            executor.execute(() -> {
                try {
                    free.add(create());
                } catch (Throwable e) {
                    count.decrementAndGet();
                    shared.log().once("start", "an instance for responses cannot be started: " + e);
                }
            });
        } catch (RejectedExecutionException e) {
            count.decrementAndGet();
        }
    }
}
