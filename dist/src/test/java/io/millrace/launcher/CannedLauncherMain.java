package io.millrace.launcher;

/** The launcher with canned workers behind it. */
public final class CannedLauncherMain {
    private CannedLauncherMain() {}

    public static void main(String[] arguments) {
        System.exit(
                LauncherMain.commandLine("io.millrace.worker.CannedWorkerMain").execute(arguments));
    }
}
