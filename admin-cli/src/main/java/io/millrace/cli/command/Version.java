package io.millrace.cli.command;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** Provides the output of {@code --version}: the versions of millctl and Java. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream stream = Version.class.getResourceAsStream("version.properties")) {
            if (stream != null) {
                properties.load(stream);
            }
        }
        return new String[] {
            "millctl " + properties.getProperty("version", "unknown"), "Java " + System.getProperty("java.version")
        };
    }
}
