package io.millrace.system;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The command line of a launcher to be started. Confined to one thread. */
final class Launch {

    private final PackedProduct product;
    private final List<String> arguments = new ArrayList<>();
    private List<String> command;
    private @Nullable Path state;
    private int port;
    private boolean listensByFile;

    Launch(PackedProduct product) {
        this.product = product;
        this.command = List.of(product.home().resolve("bin/millrace").toString());
    }

    /** Uses another command than {@code bin/millrace}. */
    Launch command(String... words) {
        command = List.of(words);
        return this;
    }

    Launch origin(String url) {
        return with("--origin", url);
    }

    Launch demo() {
        return with("--demo");
    }

    Launch config(Path file) {
        return with("--config", file.toString());
    }

    Launch set(String key, String value) {
        return with("--set", key + "=" + value);
    }

    /** For tests of a roll that do not concern the warm-up of the new worker. */
    Launch shortWarmUp() {
        return set("worker.warm_up_limit", "500ms");
    }

    /** Uses the state of an earlier launcher. */
    Launch state(Path directory) {
        state = directory;
        return this;
    }

    /** Listens on the port of an earlier launcher; by default on an unused one. */
    Launch port(int number) {
        port = number;
        return this;
    }

    /** Listens on the addresses in the file; the port is one of those. */
    Launch listeningByFile(int number) {
        listensByFile = true;
        return port(number);
    }

    /** Adds options of {@code run}. */
    Launch arguments(String... words) {
        return with(words);
    }

    private Launch with(String... words) {
        arguments.addAll(List.of(words));
        return this;
    }

    /** Starts it and waits until its worker serves. */
    MillraceProcess start() {
        Path directory = state == null ? product.newDirectory() : state;
        int listen = port == 0 ? PackedProduct.freePort() : port;
        List<String> line = new ArrayList<>(command);
        line.add("run");
        if (!listensByFile) {
            line.addAll(List.of("--listen", "127.0.0.1:" + listen));
        }
        line.addAll(List.of("--state", directory.toString()));
        line.addAll(arguments);
        MillraceProcess process = MillraceProcess.start(product, line, listen, directory, product.newDirectory());
        product.register(process);
        process.awaitRunning();
        return process;
    }
}
