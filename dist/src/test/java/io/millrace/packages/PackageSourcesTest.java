package io.millrace.packages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests control data and scripts of the packages, without building the packages. */
final class PackageSourcesTest {
    private static final Path SOURCES = Path.of("src/packages");
    private static final Path PRODUCT = Path.of("src/main/dist");

    /** Returns the fields of a control file; continuation lines belong to the preceding field. */
    private static Map<String, String> control(String name) throws IOException {
        Map<String, String> fields = new LinkedHashMap<>();
        String last = "";
        for (String line : Files.readAllLines(SOURCES.resolve("deb/" + name + ".control"))) {
            if (line.startsWith(" ")) {
                fields.merge(last, line, (before, more) -> before + "\n" + more);
            } else {
                last = line.substring(0, line.indexOf(':'));
                fields.put(last, line.substring(line.indexOf(':') + 1).strip());
            }
        }
        return fields;
    }

    @ParameterizedTest
    @CsvSource({"millrace, @ARCH@, millrace-jre", "millrace-jre, all, millrace"})
    void flavoursReplaceEachOther(String name, String architecture, String other) throws IOException {
        Map<String, String> control = control(name);
        assertEquals(name, control.get("Package"));
        assertEquals(architecture, control.get("Architecture"));
        assertEquals("@VERSION@", control.get("Version"));
        assertEquals(other, control.get("Conflicts"));
        assertEquals(other, control.get("Replaces"));
        assertTrue(control.get("Depends").contains("adduser"), control::toString);
    }

    @Test
    void onlyTheSmallFlavourNeedsJavaOfTheSystem() throws IOException {
        assertTrue(!control("millrace").get("Depends").contains("jre"));
        String depends = control("millrace-jre").get("Depends");
        assertTrue(depends.contains("default-jre-headless (>= 2:1.17) | openjdk-17-jre-headless"), depends);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "stage",
                "oci/build",
                "files/init",
                "deb/postinst",
                "deb/prerm",
                "deb/postrm",
                "rpm/pre",
                "rpm/post",
                "rpm/preun",
                "rpm/postun"
            })
    void shellScriptsParse(String script) throws IOException, InterruptedException {
        Path file = SOURCES.resolve(script);
        assertEquals("#!/bin/sh", Files.readAllLines(file).get(0));
        Process shell = new ProcessBuilder("sh", "-n", file.toString())
                .redirectErrorStream(true)
                .start();
        String messages = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(shell.waitFor(1, TimeUnit.MINUTES), script);
        assertEquals("", messages);
        assertEquals(0, shell.exitValue(), script);
    }

    /** The scripts replace these lines. If a line changed, the package would silently listen on all addresses. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "conf/millrace.yaml | '  - \":8080\"'",
                "conf/millrace.yaml | '    to: http://127.0.0.1:9000'",
                "share/systemd/millrace.service | '# Change it with `systemctl edit millrace`, not here.'",
                "share/systemd/millrace.service | 'ExecStart=/opt/millrace/bin/millrace run --config /etc/millrace/millrace.yaml'",
                "share/systemd/millrace.service | 'KillMode=process'",
                "share/systemd/millrace.service | 'Restart=always'"
            })
    void replacedLinesExist(String file, String line) throws IOException {
        assertEquals(
                1,
                Files.readAllLines(PRODUCT.resolve(file)).stream()
                        .filter(line::equals)
                        .count(),
                line);
    }

    /** A stop would refuse connections; the upgrade hands over instead. */
    @Test
    void upgradeStopsNothing() throws IOException {
        String prerm = Files.readString(SOURCES.resolve("deb/prerm"));
        String cases = prerm.substring(prerm.indexOf("case"), prerm.indexOf("esac"));
        assertTrue(cases.contains("remove|deconfigure)"), cases);
        assertTrue(!cases.contains("upgrade"), cases);
        String postinst = Files.readString(SOURCES.resolve("deb/postinst"));
        assertTrue(!postinst.contains("restart"), postinst);
        assertTrue(postinst.contains("/etc/init.d/millrace upgrade"), postinst);
    }
}
