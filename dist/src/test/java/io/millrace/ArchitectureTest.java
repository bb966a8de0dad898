package io.millrace;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** Rules for the dependencies between launcher and worker. */
@AnalyzeClasses(
        packages = {"io.millrace.launcher", "io.millrace.worker"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {
    @ArchTest
    static final ArchRule workerKnowsNothingOfTheLauncher = noClasses()
            .that()
            .resideInAPackage("io.millrace.worker..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.millrace.launcher..");

    @ArchTest
    static final ArchRule controlProtocolKnowsNeitherSide = noClasses()
            .that()
            .resideInAPackage("io.millrace.worker.control")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.millrace.worker", "io.millrace.launcher..");

    @ArchTest
    static final ArchRule launcherServesNobody = noClasses()
            .that()
            .resideInAPackage("io.millrace.launcher..")
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage(
                    "io.millrace.proxy.exchange..",
                    "io.millrace.proxy.http1..",
                    "io.millrace.store",
                    "io.millrace.store.engine..",
                    "io.millrace.store.disk..",
                    "io.millrace.store.index..",
                    "io.millrace.store.io..",
                    "io.millrace.store.memory..",
                    "io.millrace.store.recover..");

    /** Code logs through SLF4J, as an application that embeds the proxy may use another implementation of it. */
    @ArchTest
    static final ArchRule onlyTheSetupOfTheProgramLogUsesJavaUtilLogging = noClasses()
            .that()
            .resideOutsideOfPackage("io.millrace.worker.log")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("java.util.logging..");

    @ArchTest
    static final ArchRule packagesAreFreeOfCycles =
            slices().matching("io.millrace.(**)").should().beFreeOfCycles();
}
