package io.millrace.worker;

import io.millrace.worker.control.ProcessLog;
import io.millrace.worker.control.ProcessSignals;
import io.millrace.worker.warmup.ThreadPriority;

/** Entry point of the worker process. Only the launcher starts it. */
public final class WorkerMain {
    private WorkerMain() {}

    public static void main(String[] arguments) {
        ProcessLog.choose(System.getenv());
        WorkerOptions options = WorkerOptions.parse(arguments);
        ThreadPriority.lowerCompiler();
        Warming.Starter warming = new WarmUpStarter(options.control(), options.generation());
        System.exit(run(arguments, MillraceProxy::build, warming));
    }

    static int run(String[] arguments, ServedProxy.Factory factory, Warming.Starter warming) {
        Worker worker = new Worker(WorkerOptions.parse(arguments), factory, warming);
        // Ctrl-C and a closed terminal signal the whole process group; only the launcher reacts to them.
        ProcessSignals.handle("INT", () -> {});
        ProcessSignals.handle("HUP", () -> {});
        ProcessSignals.handle("TERM", () -> worker.terminate());
        return worker.run();
    }
}
