package io.millrace.launcher.ats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.launcher.importing.source.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests the import of rules of remap.config, with their volumes, their lines of cache.config, and their order. */
final class AtsRulesTest extends AtsFixture {
    @Test
    void ofDeepLinksTheRuleIsPlainWhereTheRecordIsOff() {
        String rule = "map_with_referer http://a.example/ http://b.example/ http://c.example/ .*\\.a\\.example";
        samples.file("remap.config", rule);
        assertHas("- map: http://a.example/");
        samples.file("records.config", "CONFIG proxy.config.http.referer_filter INT 1");
        assertHas("- map_with_referer: http://a.example/");
        assertHas("referer_redirect: http://c.example/");
    }

    @Test
    void refusedSettingsAreRemovedAndNamed() {
        samples.file(
                "remap.config",
                "regex_map http://(?=a)b.example/ http://o.example/",
                "map http://ok.example/ http://o.example/ @volume=9",
                "map http://bad.example/ ftp://o.example/");
        assertHas("- map: http://ok.example/");
        assertLacks("bad.example");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 1, "is not a regular expression");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 2, "no such volume");
        assertOutcome(Outcome.NOT_MAPPED, "remap.config", 3, "the scheme 'ftp' is not supported");
        assertEquals(List.of("remap[0]"), samples.line("remap.config", 2).keys());
    }

    @Test
    void pagesOfARuleAndOfAllAreAssembled() {
        samples.file(
                "remap.config", "map http://a.example/ http://o.example/ @plugin=esi.so @pparam=--packed-node-support");
        assertHas("    esi:\n      enabled: true");
        samples.file("remap.config", "map http://a.example/ http://o.example/");
        samples.file("plugin.config", "esi.so");
        assertHas("\nesi:\n  enabled: true");
    }

    @Test
    void volumeThatIsRefusedIsTakenFromItsRulesToo() {
        samples.file("storage.config", "/var/cache/one 10G");
        samples.file("volume.config", "volume=1 scheme=http size=99.5%");
        samples.file("remap.config", "map http://a.example/ http://o.example/ @volume=1");
        assertHas("- map: http://a.example/");
        assertLacks("volume-1");
        assertOutcome(Outcome.NOT_MAPPED, "volume.config", 1, "above the limit of 99%");
    }

    @Test
    void includedFilesStandInPlaceOfTheDirective() {
        samples.file("remap.config", ".include more.config", "map http://z.example/ http://o.example/");
        samples.file("more.config", "map http://a.example/ http://o.example/");
        assertTrue(samples.yaml().indexOf("a.example") < samples.yaml().indexOf("z.example"));
        assertOutcome(Outcome.MAPPED, "more.config", 1, "remap[0]");
    }

    @Test
    void directoryIsIncludedFileByFileAndAFileTwiceHasItsLinesOnce() throws IOException {
        Files.createDirectories(directory.resolve("rules/below"));
        samples.file(
                "remap.config", ".include on.config rules", ".include on.config", "map http://z.example/ http://o/");
        samples.file("on.config", ".definefilter f @action=deny @method=PUT", ".activatefilter f");
        samples.file("rules/b.config", "map http://b.example/ http://o/");
        samples.file("rules/a.config", "map http://a.example/ http://o/");
        samples.file("rules/.c", "map http://c.example/ http://o/");
        samples.file("rules/below/d.config", "map http://d.example/ http://o/");
        String yaml = samples.yaml();
        assertTrue(yaml.indexOf("c.example") < yaml.indexOf("a.example"), yaml);
        assertTrue(yaml.indexOf("a.example") < yaml.indexOf("b.example"), yaml);
        assertTrue(yaml.indexOf("b.example") < yaml.indexOf("z.example"), yaml);
        assertLacks("d.example");
        assertOutcome(Outcome.MAPPED, "on.config", 1, "filters[0]");
        assertEquals(3, yaml.split("- f\n", -1).length - 1);
        assertHas("- f-2\n");
        samples.file("on.config", ".include remap.config");
        assertProblem("on.config:1:10", "remap.config includes itself");
    }

    @Test
    void redirectionsForThisTimeStandBeforeThoseForGood() {
        samples.file(
                "remap.config",
                "redirect_temporary http://z.example/ http://o.example/z/",
                "map http://m.example/ http://o.example/",
                "redirect http://a.example/ http://o.example/a/",
                "redirect http://b.example/ http://o.example/b/",
                "redirect_temporary http://a.example/ http://o.example/t/");
        String yaml = samples.yaml();
        assertTrue(yaml.indexOf("http://o.example/t/") < yaml.indexOf("http://o.example/a/"), yaml);
        assertTrue(yaml.indexOf("http://m.example/") < yaml.indexOf("http://o.example/t/"), yaml);
        assertTrue(yaml.indexOf("http://o.example/a/") < yaml.indexOf("http://o.example/b/"), yaml);
        assertOutcome(Outcome.MAPPED, "remap.config", 5, "remap[2]");
        assertOutcome(Outcome.MAPPED, "remap.config", 3, "remap[3]");
    }

    @Test
    void linesOfCacheConfigAreForTheUrlsThatRulesLeadTo() {
        samples.file(
                "remap.config",
                "map http://a.example/js/ http://one.internal/scripts/",
                "map https://b.example/ https://two.internal:8443/b/",
                "regex_map http://(\\D+)\\.c\\.example/ http://one.internal/",
                "map / http://three.internal/");
        samples.file(
                "cache.config",
                "dest_domain=internal scheme=https port=8443 ttl-in-cache=1h",
                "dest_host=one.internal prefix=scripts/old action=never-cache",
                "dest_host=one.internal prefix=other revalidate=1h",
                "dest_host=three.internal revalidate=2h",
                "dest_host=three.internal action=never-cache",
                "dest_domain=a.example ttl-in-cache=2h",
                "dest_domain=a.example action=never-cache",
                "suffix=gif revalidate=6h");
        assertHas("""
                cache_rules:
                  - dest_host: b.example
                    ttl_in_cache: 1h
                  - dest_host: a.example
                    prefix: /js/old
                    action: never_cache
                  - host_regex: '^(?:(\\D+)\\.c\\.example)$'
                    prefix: /scripts/old
                    action: never_cache
                  - host_regex: '^(?:(\\D+)\\.c\\.example)$'
                    prefix: /other
                    revalidate: 1h
                  - dest_domain: .
                    action: never_cache
                  - dest_domain: a.example
                    action: never_cache
                  - suffix: gif
                    revalidate: 6h
                """);
        assertOutcome(Outcome.NOT_MAPPED, "cache.config", 4, "which matches every host that no other rule matches");
        assertOutcome(Outcome.NO_EFFECT, "cache.config", 6, "no target matches");
        assertOutcome(Outcome.MAPPED, "cache.config", 7, "imported for clients' URLs");
    }
}
