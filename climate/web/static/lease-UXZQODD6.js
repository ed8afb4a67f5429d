import{b as a,c as b,d as c}from"./chunk-PT64BTNE.js";import"./chunk-EZXDA2DM.js";import"./chunk-GYW75GH7.js";import"./chunk-7V5C3TWY.js";export{a as Badge,c as FactList,b as LeaseDetails};
