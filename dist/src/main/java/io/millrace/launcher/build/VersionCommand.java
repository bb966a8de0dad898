package io.millrace.launcher.build;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code millrace version}: prints version, commit and Java of this build. */
@Command(
        name = "version",
        description = "Prints version, commit and Java release.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:printed", "2:wrong usage"})
public final class VersionCommand implements Callable<Integer> {
    /** The output formats. */
    enum Format {
        TEXT,
        JSON;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            defaultValue = "text",
            description = "text or json.")
    private Format format = Format.TEXT;

    @Override
    public Integer call() throws IOException {
        BuildVersion build = BuildVersion.read();
        String java = System.getProperty("java.version", "unknown");
        String vendor = System.getProperty("java.vendor", "unknown");
        PrintWriter out = spec.commandLine().getOut();
        if (format == Format.JSON) {
            out.println("{\"version\":" + quoted(build.version()) + ",\"commit\":" + quoted(build.commit())
                    + ",\"java\":" + quoted(java) + ",\"java_vendor\":" + quoted(vendor) + "}");
        } else {
            out.println("Millrace " + build.version());
            out.println("Commit " + build.commit());
            out.println("Java " + java + " (" + vendor + ")");
        }
        return 0;
    }

    /** Returns a JSON string. Drops control characters, which do not occur in versions and vendor names. */
    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        text.chars().filter(c -> c >= ' ').forEach(c -> {
            if (c == '"' || c == '\\') {
                json.append('\\');
            }
            json.append((char) c);
        });
        return json.append('"').toString();
    }
}
