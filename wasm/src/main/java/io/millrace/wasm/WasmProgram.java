package io.millrace.wasm;

import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.abi.Status;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import run.endive.compiler.InterpreterFallback;
import run.endive.compiler.MachineFactoryCompiler;
import run.endive.runtime.Instance;
import run.endive.runtime.Machine;
import run.endive.wasm.Parser;
import run.endive.wasm.WasmModule;
import run.endive.wasm.types.ExternalType;
import run.endive.wasm.types.FunctionImport;
import run.endive.wasm.types.FunctionType;
import run.endive.wasm.types.Import;
import run.endive.wasm.types.MemoryLimits;
import run.endive.wasm.types.MemorySection;
import run.endive.wasm.types.RecType;
import run.endive.wasm.types.SubType;
import run.endive.wasm.types.ValType;

/**
 * A module that was read, checked and, if the settings say so, compiled. Thread-safe: immutable.
 */
final class WasmProgram {
    /** Limit of the bytes of a module. */
    static final long BYTES_MAX = 64L << 20;

    /** Limit of the entries of each table of an instance. */
    static final int TABLE_ENTRIES_MAX = 100_000;

    private static final String ABI_PREFIX = "proxy_abi_version_";
    private static final Set<String> ABI_VERSIONS = Set.of("proxy_abi_version_0_2_0", "proxy_abi_version_0_2_1");
    private static final List<String> NEVER_CALLED = List.of(
            "proxy_on_request_body",
            "proxy_on_request_trailers",
            "proxy_on_response_trailers",
            "proxy_on_grpc_receive_initial_metadata",
            "proxy_on_grpc_receive",
            "proxy_on_grpc_receive_trailing_metadata",
            "proxy_on_grpc_close",
            "proxy_on_queue_ready",
            "proxy_on_foreign_function",
            "proxy_on_log");

    private final WasmModule module;
    private final Set<String> functions = new HashSet<>();
    private final List<String> notCalled;
    private final MemoryLimits memory;
    private final @Nullable Function<Instance, Machine> compiled;

    private WasmProgram(WasmModule module, Shared shared) {
        this.module = module;
        for (int i = 0; i < module.exportSection().exportCount(); i++) {
            if (module.exportSection().getExport(i).exportType() == ExternalType.FUNCTION) {
                functions.add(module.exportSection().getExport(i).name());
            }
        }
        checkAbi();
        checkImports(shared.log());
        checkTypes();
        if (shared.settings().hasBodies() && !has(WasmInstance.ON_RESPONSE_BODY)) {
            throw new WasmFailure("does not export " + WasmInstance.ON_RESPONSE_BODY + ", which the class "
                    + ProxyWasmBodyExtension.class.getName() + " calls (use another class, key class)");
        }
        memory = checkMemory(shared.settings().memoryPages());
        for (int i = 0; i < module.tableSection().tableCount(); i++) {
            if (module.tableSection().getTable(i).limits().min() > TABLE_ENTRIES_MAX) {
                throw new WasmFailure("a table has more entries than the limit of " + TABLE_ENTRIES_MAX);
            }
        }
        notCalled = notCalled(shared);
        if (notCalled.contains(WasmInstance.ON_RESPONSE_BODY)) {
            shared.log()
                    .once(
                            "class for bodies",
                            "the module reads contents of responses (" + WasmInstance.ON_RESPONSE_BODY
                                    + "), but only the class " + ProxyWasmBodyExtension.class.getName()
                                    + " calls this function; set the key class of the extension to it");
        }
        if (!notCalled.isEmpty()) {
            shared.log()
                    .once(
                            "ignored " + notCalled,
                            "these functions of the module are never called: " + String.join(", ", notCalled));
        }
        compiled = shared.settings().isCompiled()
                ? MachineFactoryCompiler.builder(module)
                        .withInterpreterFallback(InterpreterFallback.SILENT)
                        .compile()
                : null;
    }

    private List<String> notCalled(Shared shared) {
        List<String> names = new ArrayList<>();
        if (!shared.settings().hasBodies() && functions.contains(WasmInstance.ON_RESPONSE_BODY)) {
            names.add(WasmInstance.ON_RESPONSE_BODY);
        }
        if (shared.callouts() == null && functions.contains(WasmInstance.ON_CALL_RESPONSE)) {
            names.add(WasmInstance.ON_CALL_RESPONSE);
        }
        NEVER_CALLED.stream().filter(functions::contains).forEach(names::add);
        return List.copyOf(names);
    }

    /**
     * Reads a module.
     *
     * @throws WasmFailure if it is not valid, or needs imports or features that this host does not have
     */
    static WasmProgram load(byte[] bytes, Shared shared) {
        try {
            return new WasmProgram(Parser.parse(bytes), shared);
        } catch (WasmFailure e) {
            throw e;
        } catch (RuntimeException | StackOverflowError e) {
            throw new WasmFailure("is not a valid WebAssembly module: " + e.getMessage(), e);
        }
    }

    private void checkAbi() {
        List<String> versions = functions.stream()
                .filter(name -> name.startsWith(ABI_PREFIX))
                .sorted()
                .toList();
        if (versions.stream().noneMatch(ABI_VERSIONS::contains)) {
            String found = versions.isEmpty()
                    ? "it exports no proxy_abi_version function"
                    : "it has version "
                            + versions.get(0).substring(ABI_PREFIX.length()).replace('_', '.');
            throw new WasmFailure("does not have the Proxy-Wasm ABI 0.2.1: " + found);
        }
    }

    private void checkImports(ModuleLog log) {
        Set<String> unimplemented = new TreeSet<>();
        for (int i = 0; i < module.importSection().importCount(); i++) {
            Import each = module.importSection().getImport(i);
            String name = each.module() + "." + each.name();
            if (!(each instanceof FunctionImport function)) {
                throw new WasmFailure("imports " + name + ", which is not a function");
            }
            FunctionType type = typeOf(function);
            GuestCall.Typed known = call(function);
            if (known == null) {
                throw new WasmFailure("imports the function " + name + ", which this proxy does not have");
            }
            if (known.call() == UNIMPLEMENTED || known.call() == NO_SYSTEM_CALL) {
                unimplemented.add(each.name());
            } else if (!hasType(type, known)) {
                throw new WasmFailure("imports the function " + name + " with another type");
            }
        }
        if (!unimplemented.isEmpty()) {
            log.once(
                    "unimplemented " + unimplemented,
                    "the module imports functions that are not implemented: " + String.join(", ", unimplemented)
                            + "; calls return an error");
        }
    }

    private static final GuestCall UNIMPLEMENTED = (guest, args) -> Status.UNIMPLEMENTED;
    private static final GuestCall NO_SYSTEM_CALL = (guest, args) -> WasiFunctions.NO_SYSTEM_CALL;

    /** Returns the host function of an import; null if there is none. */
    GuestCall.@Nullable Typed call(FunctionImport function) {
        boolean returnsStatus = typeOf(function).returns().equals(List.of(ValType.I32));
        switch (function.module()) {
            case "env" -> {
                GuestCall.Typed known = ProxyFunctions.ALL.get(function.name());
                boolean isUnknown =
                        known == null && returnsStatus && function.name().startsWith("proxy_");
                return isUnknown ? new GuestCall.Typed("", true, UNIMPLEMENTED) : known;
            }
            case "wasi_snapshot_preview1", "wasi_unstable" -> {
                GuestCall.Typed known = WasiFunctions.ALL.get(function.name());
                return known == null && returnsStatus ? new GuestCall.Typed("", true, NO_SYSTEM_CALL) : known;
            }
            default -> {
                return null;
            }
        }
    }

    FunctionType typeOf(FunctionImport function) {
        return module.typeSection().getType(function.typeIndex());
    }

    private static boolean hasType(FunctionType type, GuestCall.Typed known) {
        List<ValType> parameters = new ArrayList<>();
        for (char letter : known.parameters().toCharArray()) {
            parameters.add(letter == 'l' ? ValType.I64 : ValType.I32);
        }
        List<ValType> results = known.hasResult() ? List.of(ValType.I32) : List.of();
        return type.params().equals(parameters) && type.returns().equals(results);
    }

    /** Rejects modules with garbage-collected types: their objects live in the Java heap, outside the memory limit. */
    private void checkTypes() {
        for (int i = 0; i < module.typeSection().typeCount(); i++) {
            RecType group = module.typeSection().getRecType(i);
            for (SubType each : group.subTypes()) {
                if (each.compType().funcType() == null) {
                    throw new WasmFailure("uses types of the garbage collection proposal, which is not supported");
                }
            }
        }
    }

    private MemoryLimits checkMemory(int pagesMax) {
        MemorySection section = module.memorySection().orElse(null);
        if (section == null || section.memoryCount() != 1) {
            throw new WasmFailure("must have one memory");
        }
        MemoryLimits limits = section.getMemory(0).limits();
        if (limits.shared()) {
            throw new WasmFailure("has shared memory, which is not supported");
        }
        if (limits.initialPages() > pagesMax) {
            throw new WasmFailure("needs " + kibibytes(limits.initialPages()) + " of memory, more than the limit of "
                    + kibibytes(pagesMax) + " (key memory)");
        }
        return new MemoryLimits(limits.initialPages(), Math.min(pagesMax, limits.maximumPages()));
    }

    private static String kibibytes(int pages) {
        return (long) pages * (WasmSettings.PAGE_BYTES >> 10) + "KiB";
    }

    WasmModule module() {
        return module;
    }

    /** Returns true if the module exports a function. */
    boolean has(String function) {
        return functions.contains(function);
    }

    /** The callbacks that the module exports and that this host never calls. */
    List<String> notCalled() {
        return notCalled;
    }

    /** The limits of the memory of each instance. */
    MemoryLimits memory() {
        return memory;
    }

    /** The compiled code; null if the module is interpreted. */
    @Nullable
    Function<Instance, Machine> compiled() {
        return compiled;
    }
}
