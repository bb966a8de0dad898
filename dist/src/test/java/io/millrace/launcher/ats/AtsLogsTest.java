package io.millrace.launcher.ats;

import io.millrace.launcher.importing.source.Outcome;
import org.junit.jupiter.api.Test;

/** Tests the import of several logs, filters and samples. */
final class AtsLogsTest extends AtsFixture {
    @Test
    void severalLogsBecomeAListWithTheirFilters() {
        samples.file(
                        "logging.yaml",
                        "logging:",
                        "  formats:",
                        "    - {name: short, format: '%<chi> %<pssc>'}",
                        "  filters:",
                        "    - {name: errors, action: accept, condition: pssc GTE 500}",
                        "    - {name: health, action: reject, condition: cquup MATCH /healthz}",
                        "    - {name: secret, action: wipe_field_value, condition: cquup CONTAIN password}",
                        "  logs:",
                        "    - {filename: all, format: squid, mode: ascii, filters: [health]}",
                        "    - {filename: bad.log, format: short, mode: binary, filters: [errors, health]}",
                        "    - {filename: wiped, format: squid, mode: ascii, filters: [secret]}",
                        "    - {filename: piped, format: squid, mode: ascii_pipe}",
                        "    - {filename: stdout, format: short, mode: ascii}",
                        "    - {filename: stderr, format: short, mode: ascii}")
                .file(
                        "records.config",
                        "CONFIG proxy.config.log.logfile_dir STRING /logs",
                        "CONFIG proxy.config.log.rolling_min_count INT 3");
        assertHas("- name: all");
        assertHas("- name: bad");
        assertHas("path: /logs/bad.log");
        assertHas("format: binary");
        assertHas("fields: [chi, pssc]");
        assertHas("rotate_keep: 3");
        assertHas("target: stdout");
        assertHas("status >= 500 && !(target == ");
        assertOutcome(Outcome.MAPPED, "logging.yaml", 5, "log.access[1].filter");
        assertOutcome(Outcome.MAPPED, "logging.yaml", 6, "log.access[0].filter");
        assertOutcome(Outcome.NOT_MAPPED, "logging.yaml", 7, "the action wipe_field_value");
        assertOutcome(Outcome.MAPPED, "logging.yaml", 9, "log.access[0]");
        assertOutcome(Outcome.NOT_MAPPED, "logging.yaml", 11, "without its filter secret");
        assertOutcome(Outcome.NOT_MAPPED, "logging.yaml", 12, "writes to no pipe");
        assertOutcome(Outcome.NOT_MAPPED, "logging.yaml", 14, "not written to standard error");
    }

    @Test
    void aSampledLogBecomesAListOfOne() {
        samples.file("logging.yaml", "logging:", "  logs:", "    - {filename: few, format: squid, mode: ascii}")
                .file("records.config", "CONFIG proxy.config.log.sampling_frequency INT 10");
        assertHas("- name: few");
        assertHas("sample: 10");
        assertOutcome(Outcome.MAPPED, "records.config", 1, "log.access[0].sample");
    }

    @Test
    void oneLogWithoutFilterStaysASection() {
        samples.file("logging.yaml", "logging:", "  logs:", "    - {filename: one, format: common, mode: ascii}");
        assertHas("format: common");
        assertLacks("- name: one");
    }

    @Test
    void aBinaryLogKeepsTheFieldsOfItsFormat() {
        samples.file(
                        "logging.yaml",
                        "logging:",
                        "  formats:",
                        "    - {name: own, format: '%<chi> %<chi> \"%<{Accept}cqh>\"'}",
                        "  logs:",
                        "    - {filename: one, format: own, mode: binary}")
                .file("records.config", "CONFIG proxy.config.log.logfile_dir STRING /logs");
        assertHas("format: binary");
        assertHas("fields: [chi, '{Accept}cqh']");
        assertHas("path: /logs/one.blog");
        assertOutcome(Outcome.MAPPED, "logging.yaml", 5, "log.access.fields");
    }

    @Test
    void aBinaryLogOfTheSquidFormatHasItsFields() {
        samples.file("logging.yaml", "logging:", "  logs:", "    - {filename: squid, format: squid, mode: bin}");
        assertHas("fields: [cqtq, ttms, chi, crc, pssc, psql, cqhm, pquc, caun, phr, shn, psct]");
    }

    @Test
    void noListIsWrittenIfRequestsAreNotLogged() {
        samples.file(
                        "logging.yaml",
                        "logging:",
                        "  logs:",
                        "    - {filename: one, format: common, mode: ascii}",
                        "    - {filename: two, format: common, mode: ascii}")
                .file("records.config", "CONFIG proxy.config.log.logging_enabled INT 1");
        assertHas("enabled: false");
        assertLacks("- name: one");
    }
}
