package io.millrace.worker;

import io.millrace.worker.control.ProcessSignals;
import io.millrace.worker.log.ProcessLog;
import io.millrace.worker.warmup.ThreadPriority;

/** The main class of the worker process, which only the launcher starts. */
public final class WorkerMain {
    private WorkerMain() {}

    public static void main(String[] arguments) {
        ProcessLog.install();
        WorkerOptions options = WorkerOptions.parse(arguments);
        ThreadPriority.lowerC2();
        Warming.Starter warming = new WarmUpStarter(options.control(), options.generation());
        System.exit(run(arguments, MillraceProxy::build, warming));
    }

    static int run(String[] arguments, ServedProxy.Factory factory, Warming.Starter warming) {
        Worker worker = new Worker(WorkerOptions.parse(arguments), factory, warming);
        // Ctrl-C and the end of a terminal send these signals to all processes of the terminal. Only the launcher
        // reacts.
        ProcessSignals.handle("INT", () -> {});
        ProcessSignals.handle("HUP", () -> {});
        ProcessSignals.handle("TERM", () -> worker.terminate());
        return worker.run();
    }
}
