package io.millrace.cli;

import io.millrace.cli.command.DataStream;
import io.millrace.cli.command.ProcessEnvironment;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The entry point of the process {@code millctl}. */
public final class Main {
    private Main() {}

    /** Runs one command and ends the process with its exit code. */
    public static void main(String[] arguments) {
        PrintStream out = new DataStream(new FileOutputStream(FileDescriptor.out));
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        System.exit(Millctl.run(arguments, ProcessEnvironment.ofProcess(), out, err));
    }
}
