package io.millrace.proxy.dictionary;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.millrace.proxy.caching.Invalidations;
import io.millrace.proxy.encode.CompressionDictionary;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.TargetUri;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which dictionaries are forgotten by a decision about a request. */
class DictionaryChoiceTest {
    private static final TargetUri URL = (TargetUri) TargetUri.parseAbsolute("https://site.example/a.js");

    private final Dictionaries dictionaries = new Dictionaries();

    /** A stale dictionary is forgotten, but a dry run, such as for explain, changes nothing. */
    @ParameterizedTest
    @CsvSource({"false, 0", "true, 1"})
    void aDryRunForgetsNothing(boolean dryRun, int count) {
        FieldSection terms =
                FieldSection.builder().add("Use-As-Dictionary", "match=\"/*\"").build();
        CompressionDictionary content = CompressionDictionary.of(new byte[100]);
        dictionaries.add(
                new StoredDictionary(URL, DictionaryTerms.of(terms, URL), content, 1000, URL, null, null, 0, null),
                Long.MAX_VALUE,
                dictionaries.generation());
        FieldSection request = FieldSection.builder()
                .add("Available-Dictionary", content.hashText())
                .build();
        DictionaryChoice choice = new DictionaryChoice(dictionaries, Invalidations.NONE, null);
        assertEquals(DictionaryChoice.Result.UNKNOWN, choice.choose(URL, request, 1000, dryRun));
        assertEquals(count, dictionaries.count());
    }
}
