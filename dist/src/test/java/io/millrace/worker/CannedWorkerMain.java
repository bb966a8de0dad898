package io.millrace.worker;

/** A worker that serves canned answers: everything but the proxy is the real thing. */
public final class CannedWorkerMain {
    private CannedWorkerMain() {}

    public static void main(String[] arguments) {
        System.exit(WorkerMain.run(
                arguments,
                (config, configFile, descriptors, adminSocket, state) -> new CannedProxy(config, descriptors),
                new CannedWarming()));
    }
}
