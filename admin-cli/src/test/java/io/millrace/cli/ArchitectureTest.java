package io.millrace.cli;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

@AnalyzeClasses(packages = "io.millrace.cli", importOptions = ImportOption.DoNotIncludeTests.class)
final class ArchitectureTest {
    @ArchTest
    static final ArchRule speaksToTheProductOnlyThroughItsAdminApi = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.netty..",
                    "io.millrace.proxy..",
                    "io.millrace.store..",
                    "io.millrace.launcher..",
                    "org.slf4j..");

    @ArchTest
    static final ArchRule onlyTheClientReadsAndWritesJson = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.cli.client")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("tools.jackson..");

    @ArchTest
    static final ArchRule onlyCommandsKnowPicocli = noClasses()
            .that()
            .resideOutsideOfPackages("io.millrace.cli", "io.millrace.cli.command..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("picocli..");

    /** Each of these costs tens of milliseconds at every start. */
    @ArchTest
    static final ArchRule startsFast = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("java.util.stream..", "java.net.http..", "java.util.logging..")
            .orShould()
            .callMethod(String.class, "format", String.class, Object[].class);

    /** Loaded only by commands that accept an expression. */
    @ArchTest
    static final ArchRule expressionsAreApart = noClasses()
            .that()
            .doNotHaveSimpleName("NamePattern")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.util.regex..");

    @ArchTest
    static final ArchRule hasNoCycles =
            slices().matching("io.millrace.cli.(**)").should().beFreeOfCycles();
}
