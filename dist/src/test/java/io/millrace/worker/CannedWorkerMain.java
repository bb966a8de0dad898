package io.millrace.worker;

/** A worker with canned responses; everything except the proxy is the real code. */
public final class CannedWorkerMain {
    private CannedWorkerMain() {}

    public static void main(String[] arguments) {
        System.exit(WorkerMain.run(
                arguments,
                (config, configFile, descriptors, adminSocket, state) -> new CannedProxy(config, descriptors),
                new CannedWarming()));
    }
}
