package io.millrace.launcher.ats;

import io.millrace.launcher.importing.source.Outcome;
import org.junit.jupiter.api.Test;

/** Tests the import of the plugin compress: its file becomes {@code compression} of a rule, or of all rules. */
final class CompressTest extends AtsFixture {
    private static final String MAP = "map http://a.example/ http://o.example/";

    private void rule(String... lines) {
        samples.file("remap.config", MAP + " @plugin=compress.so @pparam=c.config");
        samples.file("c.config", lines);
    }

    @Test
    void aFileOfARuleBecomesItsCompression() {
        rule("cache true", "supported-algorithms gzip,br", "compressible-content-type text/*", "flush true");
        assertHas("    compression:\n      enabled: true\n      encodings: [br, gzip]\n      types: ['text/*']\n");
        assertOutcome(Outcome.MAPPED, "c.config", 2, "remap[0].compression.encodings");
        assertOutcome(Outcome.NO_EFFECT, "c.config", 4, "flushed");
        assertOutcome(Outcome.MAPPED, "remap.config", 1, "203, 403, 404 and 410");
    }

    @Test
    void withoutAFileTextIsCompressedWithGzip() {
        samples.file("remap.config", MAP + " @plugin=compress.so");
        assertHas("    compression:\n      enabled: true\n      encodings: [gzip]\n      types: ['text/*']\n");
    }

    @Test
    void patternsBecomeTheKnownTypes() {
        rule(
                "compressible-content-type *font-ttf",
                "compressible-content-type !text/css",
                "compressible-content-type *nothing*",
                "compressible-content-type application/json");
        assertHas("types: [application/x-font-ttf, application/json]\n");
        assertOutcome(Outcome.MAPPED, "c.config", 1, "that the importer knows");
        assertOutcome(Outcome.NOT_MAPPED, "c.config", 2, "cannot be excluded");
        assertOutcome(Outcome.NOT_MAPPED, "c.config", 3, "knows no type");
    }

    @Test
    void aRemovedAcceptEncodingAndOtherLinesAreReported() {
        rule(
                "remove-accept-encoding true",
                "minimum-content-length 2048",
                "allow !*.pdf",
                "allow *",
                "supported-algorithms deflate",
                "compress-harder true");
        assertHas("rules:\n      - remove_request_header: [Accept-Encoding]\n");
        assertHas("min_size: 2KiB\n");
        assertHas("encodings: [gzip]\n");
        assertOutcome(Outcome.NOT_MAPPED, "c.config", 3, "compression.enabled: false");
        assertOutcome(Outcome.NO_EFFECT, "c.config", 4, "all URLs");
        assertOutcome(Outcome.NOT_MAPPED, "c.config", 5, "gzip is used");
        assertOutcome(Outcome.NOT_MAPPED, "c.config", 6, "'compress-harder' is not understood");
    }

    @Test
    void sectionsOfPluginConfigHoldForTheirHosts() {
        samples.file("remap.config", MAP, "map http://b.example/ http://o.example/");
        samples.file("plugin.config", "compress.so c.config");
        samples.file(
                "c.config",
                "compressible-content-type text/*",
                "[b.example]",
                "enabled false",
                "cache true",
                "[c.example]",
                "cache true");
        assertHas("compression:\n  enabled: true\n  encodings: [gzip]\n  types: ['text/*']\n");
        assertHas("  - map: http://b.example/\n    to: http://o.example/\n    compression:\n      enabled: false\n");
        assertOutcome(Outcome.MAPPED, "c.config", 3, "remap[1].compression.enabled");
        assertOutcome(Outcome.NO_EFFECT, "c.config", 4, "not enabled");
        assertOutcome(Outcome.NO_EFFECT, "c.config", 6, "no rule uses the section");
    }

    @Test
    void aMissingFileAndARedirectionAreReported() {
        samples.file(
                "remap.config",
                MAP + " @plugin=gzip.so @pparam=none.config",
                "redirect http://b.example/ http://c.example/ @plugin=compress.so");
        assertLacks("compression");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "the file none.config does not exist");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 2, "sends no requests");
    }
}
