package io.millrace.wasm;

import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.abi.Status;
import io.millrace.wasm.body.BodyBuffer;
import io.millrace.wasm.callout.CalloutResponse;
import io.millrace.wasm.callout.OpenCalls;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import run.endive.runtime.ByteArrayMemory;
import run.endive.runtime.ExportFunction;
import run.endive.runtime.ImportFunction;
import run.endive.runtime.ImportValues;
import run.endive.runtime.Instance;
import run.endive.runtime.MStack;
import run.endive.runtime.TableInstance;
import run.endive.wasm.WasmModule;
import run.endive.wasm.types.FunctionImport;
import run.endive.wasm.types.OpCode;
import run.endive.wasm.types.Table;
import run.endive.wasm.types.TableLimits;

/**
 * One instance of a module, with a memory of its own. An instance whose callback has failed must not be used again.
 *
 * <p>Confined to one thread at a time.
 */
final class WasmInstance {
    static final String ON_REQUEST = "proxy_on_request_headers";
    static final String ON_RESPONSE = "proxy_on_response_headers";
    static final String ON_RESPONSE_BODY = "proxy_on_response_body";
    static final String ON_TICK = "proxy_on_tick";
    static final String ON_CALL_RESPONSE = "proxy_on_http_call_response";

    /** The context of the plugin itself. */
    static final int ROOT_CONTEXT = 1;

    /** Limit of the numbers of contexts. After it, the numbers begin again. */
    private static final int CONTEXT_MAX = 1 << 30;

    /** The result of a callback that pauses its message. */
    private static final int PAUSE = 1;

    /** The shortest period of ticks in ms. */
    private static final long TICK_MILLIS_MIN = 100;

    /** Thrown if a callback has executed more instructions than it may. */
    static final class InstructionLimitException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        InstructionLimitException(long limit) {
            super("instructions of a callback: limit=" + limit);
        }
    }

    /** Thrown if a callback has used more processor time than it may. */
    static final class TimeLimitException extends RuntimeException {
        private static final long serialVersionUID = 1L;

        TimeLimitException(long nanos) {
            super("processor time of a callback for a response: limit=" + TimeUnit.NANOSECONDS.toMillis(nanos)
                    + " ms (key deadline)");
        }
    }

    /** Number of bytes that a host function copies in the time of one instruction. */
    private static final int BYTES_PER_INSTRUCTION = 8;

    /** Number of bytes that a bulk memory instruction writes in the time of one other instruction. */
    private static final int BLOCK_BYTES_PER_INSTRUCTION = 64;

    /** Number of instructions that are counted for a host call. */
    private static final int HOST_CALL_INSTRUCTIONS = 20;

    /** Number of executed instructions between two reads of the clock. */
    private static final int CLOCK_INSTRUCTIONS = 1024;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Shared shared;
    /** True if executed instructions are counted, so that callbacks have a limit of instructions. */
    private final boolean isCounted;

    private final Instance engine;
    private final GuestMemory memory;
    private final ExportFunction allocate;
    private final @Nullable ExportFunction onContextCreate;
    private final @Nullable ExportFunction onRequest;
    private final @Nullable ExportFunction onResponse;
    private final @Nullable ExportFunction onResponseBody;
    private final @Nullable ExportFunction onDone;
    private final @Nullable ExportFunction onDelete;
    private final @Nullable ExportFunction onTick;
    private final @Nullable ExportFunction onCallResponse;
    private final @Nullable OpenCalls calls;
    private long instructionsMax;
    private long instructionsLeft;
    /** Number of instructions until the next read of the clock. */
    private int untilClock = CLOCK_INSTRUCTIONS;
    /** The processor time of the thread at the end of the callback; {@code Long.MAX_VALUE} for no limit. */
    private long endNanos = Long.MAX_VALUE;

    private boolean isStarted;
    private int lastContext = ROOT_CONTEXT;
    private @Nullable HttpContext http;
    private @Nullable CalloutResponse callResponse;

    /** The messages of callbacks that run, and paused requests, by the number of their context. */
    private final Map<Integer, HttpContext> contexts = new HashMap<>();
    /** Messages that the module has answered or let continue (resolved) during the current callback. */
    private final Queue<HttpContext> resolved = new ArrayDeque<>();
    /** Messages whose context has ended, until the owner takes them. */
    private final Queue<HttpContext> ended = new ArrayDeque<>();

    private long tickMillis;

    /**
     * Creates an instance and runs the start of the module.
     *
     * @param startInstructions limit of the instructions of the start; 0 for an instance without limits of
     *     instructions, whose callbacks end by an interruption of their thread
     * @param callbackInstructions limit of the instructions of each later callback
     * @param calls sends HTTP calls of the module; null if it cannot call
     * @throws RuntimeException if the module refuses its configuration, or its start fails
     */
    WasmInstance(
            WasmProgram program,
            Shared shared,
            long startInstructions,
            long callbackInstructions,
            @Nullable OpenCalls calls) {
        this.shared = shared;
        this.calls = calls;
        isCounted = startInstructions > 0;
        instructionsMax = startInstructions;
        instructionsLeft = startInstructions;
        engine = engine(program);
        memory = new GuestMemory(engine.memory(), this::chargeBytes);
        ExportFunction allocateOfAbi = export(program, "proxy_on_memory_allocate");
        ExportFunction found = allocateOfAbi == null ? export(program, "malloc") : allocateOfAbi;
        if (found == null) {
            throw new WasmFailure("exports neither proxy_on_memory_allocate nor malloc");
        }
        allocate = found;
        onContextCreate = export(program, "proxy_on_context_create");
        onRequest = export(program, ON_REQUEST);
        onResponse = export(program, ON_RESPONSE);
        onResponseBody = export(program, ON_RESPONSE_BODY);
        onDone = export(program, "proxy_on_done");
        onDelete = export(program, "proxy_on_delete");
        onTick = export(program, ON_TICK);
        onCallResponse = export(program, ON_CALL_RESPONSE);
        start(program);
        isStarted = true;
        instructionsMax = callbackInstructions;
    }

    private Instance engine(WasmProgram program) {
        WasmModule module = program.module();
        List<ImportFunction> imports = new ArrayList<>();
        for (int i = 0; i < module.importSection().importCount(); i++) {
            if (module.importSection().getImport(i) instanceof FunctionImport function) {
                imports.add(bound(program, function));
            }
        }
        Instance.Builder builder = Instance.builder(module)
                .withStart(false)
                .withMemoryLimits(program.memory())
                .withMemoryFactory(ByteArrayMemory::new)
                .withTableFactory(WasmInstance::table)
                .withImportValues(ImportValues.builder().withFunctions(imports).build());
        if (isCounted) {
            builder.withUnsafeExecutionListener((instruction, stack) -> count(instruction.opcode(), stack));
        } else if (program.compiled() != null) {
            builder.withMachineFactory(program.compiled());
        }
        return builder.build();
    }

    /** Counts an instruction before it is executed. */
    private void count(OpCode code, MStack stack) {
        switch (code) {
            case MEMORY_FILL, MEMORY_COPY, MEMORY_INIT -> charge(1 + operand(stack) / BLOCK_BYTES_PER_INSTRUCTION);
            case TABLE_FILL, TABLE_COPY, TABLE_INIT, TABLE_GROW -> charge(1 + operand(stack));
            case MEMORY_GROW -> {
                long pages = operand(stack);
                boolean isPossible = pages <= memory.pagesLeft();
                charge(1 + (isPossible ? pages * WasmSettings.PAGE_BYTES / BLOCK_BYTES_PER_INSTRUCTION : 0));
            }
            default -> charge(1);
        }
        if (--untilClock <= 0) {
            untilClock = CLOCK_INSTRUCTIONS;
            if (endNanos != Long.MAX_VALUE && THREADS.getCurrentThreadCpuTime() > endNanos) {
                throw new TimeLimitException(shared.settings().deadlineNanos());
            }
        }
    }

    /** The last operand, which is the length of a block. */
    private static long operand(MStack stack) {
        return stack.peek() & 0xffff_ffffL;
    }

    /**
     * Counts work of the host as instructions. Does nothing if this instance has no limit of instructions.
     *
     * @throws InstructionLimitException at the limit
     */
    void charge(long instructions) {
        if (!isCounted) {
            return;
        }
        instructionsLeft -= instructions;
        if (instructionsLeft < 0) {
            throw new InstructionLimitException(instructionsMax);
        }
    }

    /**
     * Counts a copy by the host as instructions.
     *
     * @throws InstructionLimitException at the limit
     */
    void chargeBytes(long bytes) {
        charge(bytes / BYTES_PER_INSTRUCTION);
    }

    private ImportFunction bound(WasmProgram program, FunctionImport function) {
        GuestCall.Typed known = program.call(function);
        if (known == null) {
            throw new WasmFailure("imports the function " + function.name() + ", which this proxy does not have");
        }
        return new ImportFunction(function.module(), function.name(), program.typeOf(function), (instance, args) -> {
            charge(HOST_CALL_INSTRUCTIONS);
            int result;
            try {
                result = known.call().run(this, args);
            } catch (GuestMemory.AddressException e) {
                result = Status.INVALID_MEMORY_ACCESS;
            }
            return known.hasResult() ? new long[] {result} : new long[0];
        });
    }

    /**
     * Returns a table with its own limits object. A table that grows changes this object, so instances must not share
     * it.
     */
    private static TableInstance table(Table table, int value) {
        long entriesMax = Math.min(table.limits().max(), WasmProgram.TABLE_ENTRIES_MAX);
        return new TableInstance(
                new Table(table.elementType(), new TableLimits(table.limits().min(), entriesMax)), value);
    }

    private @Nullable ExportFunction export(WasmProgram program, String name) {
        return program.has(name) ? engine.exports().function(name) : null;
    }

    private void start(WasmProgram program) {
        ExportFunction initialize = export(program, "_initialize");
        ExportFunction startFunction = initialize == null ? export(program, "_start") : initialize;
        if (startFunction != null) {
            startFunction.apply();
        }
        if (onContextCreate != null) {
            onContextCreate.apply(ROOT_CONTEXT, 0);
        }
        mustAccept(
                export(program, "proxy_on_vm_start"),
                "proxy_on_vm_start",
                shared.settings().vmBytes());
        mustAccept(
                export(program, "proxy_on_configure"),
                "proxy_on_configure",
                shared.settings().pluginBytes());
    }

    private static void mustAccept(@Nullable ExportFunction function, String name, byte[] configuration) {
        if (function != null && function.apply(ROOT_CONTEXT, configuration.length)[0] == 0) {
            throw new WasmFailure(name + " has refused the configuration");
        }
    }

    Shared shared() {
        return shared;
    }

    GuestMemory memory() {
        return memory;
    }

    /** The message of the effective context; null if that is the context of the plugin. */
    @Nullable
    HttpContext http() {
        return http;
    }

    /** Makes a context the effective one. Returns false if there is no such context. */
    boolean enter(int number) {
        HttpContext found = contexts.get(number);
        if (found == null && number != ROOT_CONTEXT) {
            return false;
        }
        http = found;
        return true;
    }

    /** The response to an HTTP call; null outside the callback for it. */
    @Nullable
    CalloutResponse callResponse() {
        return callResponse;
    }

    /** The HTTP calls of this instance; null if it cannot call, also during its start. */
    @Nullable
    OpenCalls calls() {
        return isStarted ? calls : null;
    }

    /** Notes that the module has resolved a message. Its context ends after the callback. */
    void resolved(HttpContext message) {
        if (!resolved.contains(message)) {
            resolved.add(message);
        }
    }

    /** Removes the next message whose context has ended because the module has resolved it; null if there is none. */
    @Nullable
    HttpContext takeEnded() {
        return ended.poll();
    }

    /** Sets the period of ticks; 0 for none. */
    void tickMillis(long period) {
        tickMillis = period == 0 ? 0 : Math.max(TICK_MILLIS_MIN, period);
    }

    /** The period of ticks; 0 for none. */
    long tickMillis() {
        return tickMillis;
    }

    /**
     * Copies bytes into new memory of the module.
     *
     * @param addressAt position in the module's memory to which the address of the copy is written
     * @param lengthAt position in the module's memory to which the length is written
     * @return the status for the module
     */
    int copyToGuest(byte[] bytes, long addressAt, long lengthAt) {
        int address = 0;
        if (bytes.length > 0) {
            address = (int) allocate.apply(bytes.length)[0];
            if (address == 0) {
                return Status.INTERNAL_FAILURE;
            }
            memory.write(address, bytes);
        }
        memory.writeInt(addressAt, address);
        memory.writeInt(lengthAt, bytes.length);
        return Status.OK;
    }

    /** Starts the counts of instructions and processor time for a callback. */
    private void begin() {
        instructionsLeft = instructionsMax;
        if (isCounted && THREADS.isCurrentThreadCpuTimeSupported()) {
            endNanos = THREADS.getCurrentThreadCpuTime() + shared.settings().deadlineNanos();
        }
    }

    /**
     * Runs the callbacks for the fields of a request. If the module pauses the request, its context stays. Otherwise
     * {@link #takeEnded} returns the message.
     */
    void request(HttpContext message) {
        begin();
        long action = PAUSE + 1;
        HeaderMap fields = message.fields(HttpContext.REQUEST_FIELDS);
        create(message);
        if (onRequest != null && fields != null) {
            action = onRequest.apply(message.number(), fields.size(), message.isEnd() ? 1 : 0)[0];
        }
        if (action != PAUSE) {
            resolved(message);
        }
        endResolved();
    }

    /**
     * Runs the callbacks for a piece of the content of a response. Its context stays until the end of the content. If
     * the module pauses the end, the context stays too. Otherwise {@link #takeEnded} returns the message.
     */
    void body(HttpContext message, BodyBuffer content) {
        begin();
        if (message.number() == 0) {
            create(message);
        } else {
            message.restart();
            http = message;
        }
        boolean isPaused = onResponseBody != null
                && onResponseBody.apply(message.number(), content.length(), content.isEnd() ? 1 : 0)[0] == PAUSE;
        if (!isPaused) {
            content.release();
            if (content.isEnd()) {
                resolved(message);
            }
        }
        endResolved();
    }

    /** Runs the callbacks for the fields of a response. */
    void response(HttpContext message) {
        HeaderMap fields = message.fields(HttpContext.RESPONSE_FIELDS);
        if (onResponse == null || fields == null) {
            return;
        }
        begin();
        create(message);
        long action = onResponse.apply(message.number(), fields.size(), 0)[0];
        delete(message);
        resolved.clear();
        if (action == PAUSE && !message.isResolved()) {
            throw new WasmFailure("the module has paused a response; nothing can resume it");
        }
    }

    /** Runs the callback for the result of an HTTP call. */
    void callResponse(int call, CalloutResponse response) {
        if (onCallResponse == null) {
            return;
        }
        begin();
        http = null;
        callResponse = response;
        onCallResponse.apply(ROOT_CONTEXT, call, response.fields().size(), response.body().length, 0);
        callResponse = null;
        endResolved();
    }

    /**
     * Ends the context of a paused request that the module has not resolved. In its callbacks for this end, the module
     * may resolve other messages.
     */
    void abandon(HttpContext message) {
        begin();
        delete(message);
        endResolved();
    }

    private void create(HttpContext message) {
        // Skips numbers of paused requests. There are far fewer paused requests than numbers.
        do {
            lastContext = lastContext >= CONTEXT_MAX ? ROOT_CONTEXT + 1 : lastContext + 1;
        } while (contexts.containsKey(lastContext));
        message.begin(lastContext);
        contexts.put(lastContext, message);
        http = message;
        if (onContextCreate != null) {
            onContextCreate.apply(lastContext, ROOT_CONTEXT);
        }
    }

    private void endResolved() {
        for (HttpContext each = resolved.poll(); each != null; each = resolved.poll()) {
            if (contexts.containsKey(each.number())) {
                delete(each);
                ended.add(each);
            }
        }
        http = null;
    }

    private void delete(HttpContext message) {
        http = message;
        if (onDone != null) {
            onDone.apply(message.number());
        }
        if (onDelete != null) {
            onDelete.apply(message.number());
        }
        contexts.remove(message.number());
        http = null;
    }

    /** Runs the callback of a timer. */
    void tick() {
        if (onTick != null) {
            begin();
            onTick.apply(ROOT_CONTEXT);
            endResolved();
        }
    }
}
