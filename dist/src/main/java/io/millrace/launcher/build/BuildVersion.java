package io.millrace.launcher.build;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/**
 * The version and the commit of this build. Immutable.
 *
 * @param version version in the POM
 * @param commit full hash; "unknown" if the build had no Git repository
 */
public record BuildVersion(String version, String commit) {
    private static final String UNKNOWN = "unknown";

    /** Reads the properties file that the build writes next to this class file. */
    public static BuildVersion read() throws IOException {
        Properties properties = new Properties();
        try (InputStream stream = BuildVersion.class.getResourceAsStream("build.properties")) {
            if (stream != null) {
                properties.load(stream);
            }
        }
        return new BuildVersion(value(properties, "version"), value(properties, "commit"));
    }

    /** Returns the version in the manifest of the jar. Returns "(unpacked)" outside of a jar. */
    public static String ofJar() {
        String version = BuildVersion.class.getPackage().getImplementationVersion();
        return version == null ? "(unpacked)" : version;
    }

    /** Reads a property. A placeholder that the build did not replace counts as missing. */
    private static String value(Properties properties, String key) {
        String value = properties.getProperty(key, UNKNOWN);
        return value.isBlank() || value.startsWith("${") ? UNKNOWN : value;
    }
}
