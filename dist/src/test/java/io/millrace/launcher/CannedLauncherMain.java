package io.millrace.launcher;

/** The main class of the launcher with canned workers. */
public final class CannedLauncherMain {
    private CannedLauncherMain() {}

    public static void main(String[] arguments) {
        System.exit(
                LauncherMain.commandLine("io.millrace.worker.CannedWorkerMain").execute(arguments));
    }
}
